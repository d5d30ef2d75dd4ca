package luaapi

// WithoutCallSites compiles every declaration of in through a table.
func (in *Interp) WithoutCallSites() { in.compiler.noCallSites = true }

// Corpus returns the texts of the tests.
var Corpus = corpus
