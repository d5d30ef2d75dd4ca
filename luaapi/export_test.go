package luaapi

// WithoutCallSites makes every declaration of in go by way of a table.
func (in *Interp) WithoutCallSites() { in.compiler.noCallSites = true }

// Corpus is the texts of the tests.
var Corpus = corpus
