package safepath

import (
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// A Handle is something that is held open (O_PATH on Linux), mostly a directory.
type Handle struct {
	FD int
	// Path is where it was found, as the machine sees it; without links if links had to
	// be followed.
	Path string
	Stat unix.Stat_t
	// at is the place of what could not be opened (system_unix.go).
	at Location
	// holders is how many others than the first need it.
	holders atomic.Int32
}

// Hold keeps d open for one more holder.
func (d *Handle) Hold() *Handle {
	d.holders.Add(1)
	return d
}

// Close gives d up. The last holder closes it. D may be nil.
func (d *Handle) Close() {
	switch {
	case d == nil || d.holders.Add(-1) >= 0:
	case d.at.Dir != nil:
		d.at.Close()
	default:
		_ = unix.Close(d.FD)
	}
}

// Is reports whether d and e are the same directory.
func (d *Handle) Is(e *Handle) bool { return d.Stat.Dev == e.Stat.Dev && d.Stat.Ino == e.Stat.Ino }

// NewHandle returns the handle of what is open as fd, which was found at a path. It
// closes fd if that fails.
func NewHandle(fd int, path string) (*Handle, error) {
	d := &Handle{FD: fd, Path: path}
	if err := IgnoringEINTR(func() error { return unix.Fstat(fd, &d.Stat) }); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}
