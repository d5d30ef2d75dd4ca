// Package safepath opens files without following links to places that the owner of the link could not reach himself.
//
// Root works in directories of other users, who may at any time put a symbolic link where root expects a directory.
// So all code that reads or changes a file starts from the descriptor of its directory, which a [Resolver] has
// opened: renaming directories cannot redirect it any more. chase() in systemd and libpathrs for containers work the
// same way; the rule for links is stricter here (links.go).
//
// Begin with [Resolver.At], which returns the directory and the name in it as a [Location].
package safepath
