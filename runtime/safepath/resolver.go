package safepath

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// A Resolver opens the files at paths below a root directory, and follows links by the rule in links.go.
//
// A path without links takes one call of openat2(2) with RESOLVE_NO_SYMLINKS. A path with links, and every path on
// kernels without openat2 (before Linux 5.6, or where a container forbids it), is walked name by name with
// O_PATH|O_NOFOLLOW. Other systems always walk, and have no O_PATH (system_unix.go).
type Resolver struct {
	Root string // the directory that is used as /
	// UserName returns the name of a user for errors.
	UserName func(uid uint32) string
	// AnyLink makes it follow every link, as the kernel does, for paths that were checked before.
	AnyLink bool
	// Stepwise makes it walk every path name by name.
	Stepwise bool
}

// At returns the location of a path. A link at the end of the path is not followed.
func (r *Resolver) At(name string) (Location, error) {
	dir, last := Split(name)
	d, err := r.Directory(dir)
	if err != nil {
		return Location{}, err
	}
	return Location{Dir: d, Name: last}, nil
}

// Split returns the directory and the last name of a path. The name is "." if the path ends in a slash, . or .., so
// that it cannot be a link.
func Split(name string) (dir, last string) {
	slash := strings.LastIndexByte(name, '/')
	if last = name[slash+1:]; isDots(last) {
		return name, "."
	}
	if slash <= 0 {
		return name[:slash+1], last
	}
	return name[:slash], last
}

// isDots reports whether a name stands for the directory itself or its parent.
func isDots(name string) bool { return name == "" || name == "." || name == ".." }

// Directory opens the directory at a path, and follows links.
func (r *Resolver) Directory(name string) (*Handle, error) {
	fd, quick, err := r.quickDirectory(name)
	if quick {
		if err != nil {
			return nil, err
		}
		return NewHandle(fd, cleanPath(name))
	}
	t, err := r.NewWalk(name)
	if err != nil {
		return nil, err
	}
	p, err := t.To(name, true)
	if err != nil {
		return nil, err
	}
	if p.Name == "." {
		return p.Dir, nil
	}
	defer p.Close()
	d, err := p.OpenDirectory()
	if err == nil {
		if err = r.mayEnd(p, &d.Stat); err != nil {
			d.Close()
		}
	}
	return d, err
}

// cleanPath is filepath.Clean, but quicker for a path that is clean already, as most are.
func cleanPath(name string) string {
	if name == "" || strings.HasSuffix(name, "/") || strings.Contains(name, "//") || strings.Contains(name, "/.") {
		return filepath.Clean("/" + name)
	}
	return name
}

// Open opens the file at a path. A link at the end of the path is not followed.
func (r *Resolver) Open(name string, flags int) (int, error) {
	if areHardLinksSafe() || flags&pathOnly != 0 {
		if fd, quick, err := r.quick(name, flags|unix.O_NOFOLLOW); quick {
			return fd, err
		}
	}
	p, err := r.At(name)
	if err != nil {
		return -1, err
	}
	defer p.Close()
	return r.OpenAt(p, flags)
}

// OpenAt opens a file for reading, unless it is a link, or a hard link that another user may have made.
func (r *Resolver) OpenAt(p Location, flags int) (int, error) {
	fd, err := p.Open(flags, 0)
	if err != nil || len(p.ends) == 0 && areHardLinksSafe() {
		return fd, err
	}
	var st unix.Stat_t
	if err = IgnoringEINTR(func() error { return unix.Fstat(fd, &st) }); err == nil {
		if err = r.mayEnd(p, &st); err == nil && !areHardLinksSafe() {
			err = r.mayRead(p, &st)
		}
	}
	if err != nil {
		_ = unix.Close(fd)
	}
	return fd, err
}

// mostSwaps limits how often a path is walked again because the file found was replaced before it could be opened.
const mostSwaps = 40

// Follow opens the file at a path, and follows links.
func (r *Resolver) Follow(name string, flags int) (int, error) {
	if r.AnyLink || areHardLinksSafe() || flags&pathOnly != 0 {
		if fd, quick, err := r.quick(name, flags); quick {
			return fd, err
		}
	}
	var fd int
	for range mostSwaps {
		t, err := r.NewWalk(name)
		if err != nil {
			return -1, err
		}
		p, err := t.To(name, true)
		if err != nil {
			return -1, err
		}
		fd, err = r.OpenAt(p, flags)
		p.Close()
		if err != unix.ELOOP {
			return fd, err
		}
	}
	return -1, unix.ELOOP
}
