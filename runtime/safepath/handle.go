package safepath

import (
	"path/filepath"
	"strconv"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// A Handle is something that is held open (O_PATH), mostly a directory.
type Handle struct {
	FD int
	// Path is where it was found, as the machine sees it; without links if links had to
	// be followed.
	Path string
	Stat unix.Stat_t
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
	if d != nil && d.holders.Add(-1) < 0 {
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

// ProcPath returns a path that leads to what is open, and nowhere else.
func ProcPath(fd int) string { return filepath.Join(ProcFDs, strconv.Itoa(fd)) }

// ProcFDs is the directory of what this process has open (proc(5)).
const ProcFDs = "/proc/self/fd"

// Chmod sets the permissions of what is open as O_PATH. Fchmodat2 can do that since Linux
// 6.6, and before that the way through proc(5) does.
func Chmod(fd int, mode uint32) error {
	err := unix.Chmod(ProcPath(fd), mode)
	if err == unix.ENOENT || err == unix.ENOTDIR { // there is no /proc
		err = unix.Fchmodat(fd, "", mode, unix.AT_EMPTY_PATH)
	}
	return err
}
