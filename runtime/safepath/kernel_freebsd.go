package safepath

import "golang.org/x/sys/unix"

// Fsync makes what was written to an open file durable.
func Fsync(fd int) error { return unix.Fsync(fd) }

// linkNotFollowed returns the error of opening a link that is not to be followed as ELOOP.
func linkNotFollowed(err error) error {
	if err == unix.EMLINK {
		return unix.ELOOP
	}
	return err
}
