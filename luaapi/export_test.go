package luaapi

// WithoutSites makes every declaration of in go by way of a table.
func (in *Interp) WithoutSites() { in.compiler.noSites = true }

// Corpus is the texts of the tests.
var Corpus = corpus
