package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/filelock"
)

// A Place is a directory for one bundle that no other user can look into. It exists until Close. If
// the process dies before, the next process that takes a place removes it: a process keeps a lock
// on its place (flock(2)), and no lock outlives its process.
type Place struct {
	// Path is the path of the directory.
	Path string
	// Root is the directory, open.
	Root *os.Root

	parent *os.Root
	name   string
	lock   *os.File
}

// Take makes a place in a directory, which is made too if it is missing. The same name gives the
// same path, unless another process is there: resources of a bundle refer to files by their paths,
// and should not look new in each run. Take removes places of dead processes.
func Take(dir, name string) (*Place, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	parent, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	sweep(parent)
	for i := range 1000 {
		p := &Place{parent: parent, name: name}
		if i > 0 {
			p.name = fmt.Sprintf("%s-%d", name, i+1)
		}
		switch err := p.take(dir); {
		case err == nil:
			return p, nil
		case !errors.Is(err, errTaken):
			return nil, errors.Join(err, parent.Close())
		}
	}
	return nil, errors.Join(fmt.Errorf("%s: %w", dir, diag.TooMany("runs of this bundle at once")), parent.Close())
}

// errTaken says that another process holds a place.
var errTaken = diag.InUse("", "another process")

// take makes the place, or takes one of a dead process.
func (p *Place) take(dir string) (err error) {
	if err := p.parent.Mkdir(p.name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if p.lock, err = lock(p.parent, p.name); err != nil {
		return err
	}
	if p.Root, err = p.parent.OpenRoot(p.name); err == nil {
		if err = empty(p.Root); err == nil {
			p.Path = filepath.Join(dir, p.name)
			return nil
		}
		p.Root.Close()
	}
	filelock.Close(p.lock)
	return err
}

// Close removes the place and its content.
func (p *Place) Close() error {
	return errors.Join(p.Root.Close(), p.parent.RemoveAll(p.name), filelock.Close(p.lock), p.parent.Close())
}

// lock locks a directory of this user, if nobody else has.
func lock(parent *os.Root, name string) (*os.File, error) {
	f, err := parent.OpenFile(name, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errTaken // and removed just now
	}
	if err != nil {
		return nil, err
	}
	if err := filelock.TryLock(f, filelock.Exclusive); err != nil {
		f.Close()
		if errors.Is(err, filelock.ErrLocked) {
			return nil, errTaken
		}
		return nil, diag.Cannot("lock", f.Name(), err)
	}
	// An earlier holder may have removed the directory since.
	mine, err := f.Stat()
	if err == nil {
		var now fs.FileInfo
		if now, err = parent.Lstat(name); err == nil && os.SameFile(mine, now) {
			return f, nil
		}
	}
	f.Close()
	return nil, errTaken
}

// sweep removes the places that dead processes have left behind.
func sweep(parent *os.Root) {
	list, err := fs.ReadDir(parent.FS(), ".")
	if err != nil {
		return
	}
	for _, entry := range list {
		if !entry.IsDir() {
			continue
		}
		if f, err := lock(parent, entry.Name()); err == nil {
			_ = parent.RemoveAll(entry.Name())
			f.Close()
		}
	}
}

// empty removes all that is in a directory.
func empty(root *os.Root) error {
	list, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return err
	}
	for _, entry := range list {
		if err := root.RemoveAll(entry.Name()); err != nil {
			return err
		}
	}
	return nil
}
