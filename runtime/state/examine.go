package state

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/filelock"
	"github.com/luaccm/ccm/runtime/state/statedir"
)

// A Condition describes a state directory.
type Condition struct {
	// Nearest is the directory itself or, if it is missing, the nearest directory above it that
	// exists.
	Nearest string
	// Locked is set if a run is going on.
	Locked bool
	// Holder is the process that holds the lock.
	Holder Holder
}

// Examine checks whether runs of this user can keep their state in a directory, and changes
// nothing. The error describes why they cannot.
func Examine(dir string) (Condition, error) {
	d := statedir.New(dir, nil, nil)
	top, err := d.Top()
	if errors.Is(err, fs.ErrNotExist) {
		parent := nearest(filepath.Dir(dir))
		return Condition{Nearest: parent}, mayWrite(parent)
	}
	if err != nil {
		return Condition{Nearest: dir}, err
	}
	defer top.Close()
	c := Condition{Nearest: dir}
	if _, err := judge(d); err != nil {
		return c, err
	}
	if err := mayWrite(dir); err != nil {
		return c, err
	}
	c.Holder, c.Locked, err = lockedBy(d)
	return c, err
}

// nearest returns the directory, or the nearest directory above it that exists.
func nearest(dir string) string {
	for {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// mayWrite returns an error unless this process may make files in a directory.
func mayWrite(dir string) error {
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return &fs.PathError{Op: "write to", Path: dir, Err: err}
	}
	return nil
}

// lockedBy reports whether a run holds the lock. If the lock file names a living process, it
// tries for a moment to take the lock shared. That does not disturb a lock that is held.
func lockedBy(d *statedir.Dir) (h Holder, locked bool, err error) {
	text, err := d.ReadFile(lockFile)
	if errors.Is(err, fs.ErrNotExist) {
		return Holder{}, false, nil
	}
	if err != nil {
		return Holder{}, false, err
	}
	if json.Unmarshal(text, &h) != nil || h.PID <= 0 || errors.Is(syscall.Kill(h.PID, 0), syscall.ESRCH) {
		return Holder{}, false, nil
	}
	f, err := d.Open(lockFile, os.O_RDONLY)
	if err != nil {
		return Holder{}, false, err
	}
	defer filelock.Close(f)
	err = filelock.TryLock(f, filelock.Shared)
	if errors.Is(err, filelock.ErrLocked) {
		return h, true, nil
	}
	return Holder{}, false, err
}
