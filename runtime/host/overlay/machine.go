package overlay

import (
	"context"
	"os"
	"path"
	"strings"

	"github.com/luaccm/ccm/runtime/safepath"
)

// A Machine is the real machine below an overlay.
type Machine interface {
	Root() string
	Resolver() *safepath.Resolver
	Real(name string) (string, error)
	Lstat(name string) (safepath.Info, error)
	Readlink(name string) (string, error)
	ReadNames(name string, r *safepath.NameReader) ([]string, error)
	ReadTree(name string, r *safepath.NameReader) ([]safepath.TreeEntry, error)
	Open(name string) (*os.File, error)
	ReadUpTo(name string, limit int64) ([]byte, error)
	LookAt(name, want string) (info safepath.Info, same bool, err error)
	// OpenUserFile opens a file of the user, to which the root does not apply. FetchSource returns
	// the content of a URL.
	OpenUserFile(name string) (*os.File, error)
	FetchSource(ctx context.Context, url string) ([]byte, error)
	// InScratch reports whether a path is in a scratch directory, about which nothing is assumed.
	InScratch(name string) bool
	// CommandRoot returns the directory that commands have as their root.
	CommandRoot() string
}

// onMachine returns an effect with its path on the machine, whose root is root. It is false for a
// path outside.
func onMachine(root string, x PathEffect) (PathEffect, bool) {
	if !x.OfSystem {
		return x, true
	}
	name, ok := ofMachine(root, x.Path)
	x.Path, x.OfSystem = name, false
	return x, ok
}

// ofMachine returns the path on the machine, whose root is root, of a file of the operating
// system. It is false for a file outside.
func ofMachine(root string, name string) (string, bool) {
	if root == "/" {
		return path.Clean(name), path.IsAbs(name)
	}
	rest, below := strings.CutPrefix(path.Clean(name), root+"/")
	return "/" + rest, below
}
