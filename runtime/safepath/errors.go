package safepath

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// PathError returns an error of a call about a path, unless it names paths already.
func PathError(op, name string, err error) error {
	if errno, ok := err.(unix.Errno); ok {
		return &os.PathError{Op: op, Path: name, Err: errno}
	}
	return err
}

// UnlessGone returns nil if an error says that what was listed is not there any more, or is
// no directory any more.
func UnlessGone(err error) error {
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return nil
	}
	return err
}

// IsMissing reports whether an error of a call says that nothing stands at a path.
func IsMissing(err error) bool { return err == unix.ENOENT || err == unix.ENOTDIR }

// IgnoringEINTR calls f until no signal has interrupted it.
func IgnoringEINTR(f func() error) error {
	for {
		if err := f(); err != syscall.EINTR {
			return err
		}
	}
}

// ErrMoved says that the path of a file leads to another directory than it did.
var ErrMoved = errors.New("its directory was replaced by another one meanwhile")
