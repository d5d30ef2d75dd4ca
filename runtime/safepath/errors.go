package safepath

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/diag"
)

// PathError returns err with an operation and a path, unless it has a path already.
func PathError(op, name string, err error) error {
	if errno, ok := err.(unix.Errno); ok {
		return &os.PathError{Op: op, Path: name, Err: errno}
	}
	return err
}

// UnlessGone returns nil for an error that means that a listed file has been removed since, or is no longer a
// directory; any other error is returned as it is.
func UnlessGone(err error) error {
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return nil
	}
	return err
}

// IsMissing reports whether an error means that there is no file at a path.
func IsMissing(err error) bool { return err == unix.ENOENT || err == unix.ENOTDIR }

// IgnoringEINTR calls f again as long as a signal interrupts it.
func IgnoringEINTR(f func() error) error {
	for {
		if err := f(); err != syscall.EINTR {
			return err
		}
	}
}

// ErrMoved is returned when a path leads to another directory than before.
var ErrMoved = diag.Meanwhile("its directory", "replaced")
