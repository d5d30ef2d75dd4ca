package syntax

// Corpus returns the texts of the tests.
var Corpus = corpus
