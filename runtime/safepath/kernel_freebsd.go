package safepath

import "golang.org/x/sys/unix"

// Fsync makes written data durable.
func Fsync(fd int) error { return unix.Fsync(fd) }

// linkNotFollowed returns the error of a file that is a link, opened with O_NOFOLLOW, as ELOOP.
func linkNotFollowed(err error) error {
	if err == unix.EMLINK {
		return unix.ELOOP
	}
	return err
}
