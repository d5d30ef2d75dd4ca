package safepath

import "golang.org/x/sys/unix"

// Fsync makes what was written to an open file durable. The fsync(2) of this system leaves
// it in the memory of the disk.
func Fsync(fd int) error {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_FULLFSYNC, 0)
	if err == unix.ENOTSUP || err == unix.ENOTTY || err == unix.EINVAL { // not every file system has it
		return unix.Fsync(fd)
	}
	return err
}

// linkNotFollowed returns the error of opening a link that is not to be followed as ELOOP.
func linkNotFollowed(err error) error { return err } // which it is here
