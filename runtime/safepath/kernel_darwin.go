package safepath

import "golang.org/x/sys/unix"

// Fsync makes written data durable. fsync(2) of this system would leave it in the cache of the disk.
func Fsync(fd int) error {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_FULLFSYNC, 0)
	if err == unix.ENOTSUP || err == unix.ENOTTY || err == unix.EINVAL { // not every file system supports it
		return unix.Fsync(fd)
	}
	return err
}

// linkNotFollowed returns the error of a file that is a link, opened with O_NOFOLLOW, as ELOOP.
func linkNotFollowed(err error) error { return err } // which it is here
