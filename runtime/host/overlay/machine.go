package overlay

import (
	"context"
	"os"
	"path"
	"strings"

	"github.com/luaccm/ccm/runtime/safepath"
)

// A Machine is what an overlay lies over.
type Machine interface {
	Root() string
	Resolver() *safepath.Resolver
	Real(name string) (string, error)
	Lstat(name string) (safepath.Info, error)
	Readlink(name string) (string, error)
	ReadNames(name string, r *safepath.NameReader) ([]string, error)
	Tree(name string) ([]safepath.TreeEntry, error)
	Open(name string) (*os.File, error)
	ReadUpTo(name string, limit int64) ([]byte, error)
	LookAt(name, want string) (info safepath.Info, same bool, err error)
	// OpenUserFile opens a file of the user, which lies outside of the root, FetchSource
	// returns what is behind a URL.
	OpenUserFile(name string) (*os.File, error)
	FetchSource(ctx context.Context, url string) ([]byte, error)
	// InScratch reports whether a path is one of those for working in, of which nothing is
	// assumed.
	InScratch(name string) bool
}

// ofMachine returns the path on the machine of a file of the operating system,
// and false if it lies outside.
func (o *View) ofMachine(name string) (string, bool) {
	root := o.base.Root()
	if root == "/" {
		return path.Clean(name), path.IsAbs(name)
	}
	rest, below := strings.CutPrefix(path.Clean(name), root+"/")
	return "/" + rest, below
}
