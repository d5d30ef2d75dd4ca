package safepath

import (
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// A Handle is an open file or directory (with O_PATH on Linux). Handles are counted: each Hold needs a Close.
type Handle struct {
	FD int
	// Path is the path by which it was opened, seen from the root of the machine; without links if there were links
	// on the way.
	Path string
	Stat unix.Stat_t
	// at has the name of a file that could not be opened (system_unix.go).
	at Location
	// holders is the number of holders besides the first.
	holders atomic.Int32
}

// Hold adds a holder and returns d.
func (d *Handle) Hold() *Handle {
	d.holders.Add(1)
	return d
}

// Close removes a holder. The last one closes the descriptor. d may be nil.
func (d *Handle) Close() {
	switch {
	case d == nil || d.holders.Add(-1) >= 0:
	case d.at.Dir != nil:
		d.at.Close()
	default:
		_ = unix.Close(d.FD)
	}
}

// Is reports whether d and e are the same file.
func (d *Handle) Is(e *Handle) bool { return d.Stat.Dev == e.Stat.Dev && d.Stat.Ino == e.Stat.Ino }

// NewHandle returns the handle of a descriptor that was opened at a path. It closes fd on failure.
func NewHandle(fd int, path string) (*Handle, error) {
	d := &Handle{FD: fd, Path: path}
	if err := IgnoringEINTR(func() error { return unix.Fstat(fd, &d.Stat) }); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}
