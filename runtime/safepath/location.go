package safepath

import (
	"path/filepath"

	"golang.org/x/sys/unix"
)

// A Location is a name in a directory.
type Location struct {
	Dir  *Handle
	Name string
	// ends is the links on the way of which the last target is at the place itself: who
	// opens it has to ask mayEnd about it.
	ends []*Link
}

// Close gives up the directory.
func (p Location) Close() { p.Dir.Close() }

// Path returns the path of the place without links, as the machine sees it.
func (p Location) Path() string { return filepath.Join(p.Dir.Path, p.Name) }

// Open opens what is at the place, which is not followed if it is a link.
func (p Location) Open(flags int, mode uint32) (fd int, err error) {
	err = IgnoringEINTR(func() error {
		fd, err = unix.Openat(p.Dir.FD, p.Name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
		return err
	})
	return fd, linkNotFollowed(err)
}

// Stat describes what is at the place, which is not followed if it is a link. Nothing
// there is an Info of kind Missing.
func (p Location) Stat() (Info, error) {
	var st unix.Stat_t
	err := IgnoringEINTR(func() error { return unix.Fstatat(p.Dir.FD, p.Name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	if IsMissing(err) {
		return Info{}, nil
	}
	return InfoOf(&st), err
}

// Readlink returns where the link at the place points.
func (p Location) Readlink() (string, error) { return readlinkat(p.Dir.FD, p.Name) }

// OpenDirectory opens the directory at a place, which must not be a link.
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
