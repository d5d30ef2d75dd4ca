// Package lazyregexp has regular expressions that are compiled when they are first used.
// Compiled when the program starts, those of all packages would be a twentieth of what a
// run takes that has nothing to do.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns what returns a regular expression, which panics if expr is none.
func New(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
