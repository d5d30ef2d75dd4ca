package safepath

import (
	"path/filepath"

	"golang.org/x/sys/unix"
)

// A Location is a name in an open directory. There need not be a file of that name.
type Location struct {
	Dir  *Handle
	Name string
	// ends are the links on the path whose final target is the file itself: who opens it has to check mayEnd.
	ends []*Link
}

// Close closes the directory.
func (p Location) Close() { p.Dir.Close() }

// Path returns the path without links, seen from the root of the machine.
func (p Location) Path() string { return filepath.Join(p.Dir.Path, p.Name) }

// Open opens the file. If it is a link, the result is ELOOP.
func (p Location) Open(flags int, mode uint32) (fd int, err error) {
	err = IgnoringEINTR(func() error {
		fd, err = unix.Openat(p.Dir.FD, p.Name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
		return err
	})
	return fd, linkNotFollowed(err)
}

// Stat returns the Info of the file, or of the link itself. A missing file has the kind Missing, and is not an error.
func (p Location) Stat() (Info, error) {
	var st unix.Stat_t
	err := IgnoringEINTR(func() error { return unix.Fstatat(p.Dir.FD, p.Name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	if IsMissing(err) {
		return Info{}, nil
	}
	return InfoOf(&st), err
}

// Readlink returns the target of the link.
func (p Location) Readlink() (string, error) { return readlinkat(p.Dir.FD, p.Name) }

// OpenDirectory opens the directory, which must not be a link.
func (p Location) OpenDirectory() (*Handle, error) {
	fd, err := OpenDirectoryAt(p.Dir.FD, p.Name, unix.O_NOFOLLOW)
	if err != nil {
		return nil, err
	}
	return NewHandle(fd, p.Path())
}

func readlinkat(fd int, name string) (string, error) {
	var buf [unix.PathMax]byte
	var n int
	err := IgnoringEINTR(func() (err error) { n, err = unix.Readlinkat(fd, name, buf[:]); return err })
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}
