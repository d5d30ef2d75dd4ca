package main

// readFile reads a file that a manifest, a template or an expression names, if it
// is believed. What is no file is refused: a device may have no end, and a pipe
// nobody who writes.
func (e *env) readFile(path string) ([]byte, error) { return e.trust().ReadFile(path) }
