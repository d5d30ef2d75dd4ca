// Package safepath leads to files without following links that lead somewhere else than
// their owner could have gone.
//
// Root works in directories of other users, who may put a symbolic link where root expects
// a directory, at any time. So everything that looks at a file or changes one does so from
// the descriptor of the directory in which it is, which a [Resolver] has opened: nobody can
// lead it elsewhere afterwards by renaming things. What chase() does in systemd, and
// libpathrs for containers, is the same; the rule of which links are followed is stricter
// here (links.go).
//
// Begin with [Resolver.At], which returns the directory and the name in it as a [Location].
package safepath
