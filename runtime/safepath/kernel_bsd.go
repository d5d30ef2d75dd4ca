//go:build darwin || freebsd

package safepath

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// CTimeOf returns the time of the last change of a file's inode, and the number of the inode. ok is false if they are
// unknown.
func CTimeOf(fi os.FileInfo) (at time.Time, inode uint64, ok bool) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return at, 0, false
	}
	return time.Unix(st.Ctimespec.Unix()), st.Ino, true
}

// holdsKernelFiles reports whether the kernel generates the content of the file system's files.
func holdsKernelFiles(fs *unix.Statfs_t) bool {
	switch unix.ByteSliceToString(fs.Fstypename[:]) {
	case "procfs", "linprocfs", "linsysfs", "devfs", "fdescfs":
		return true
	}
	return false
}

// searchOnly opens a directory as the start of a path, without the right to list it.
const searchOnly = unix.O_SEARCH

// renameNew is a rename that fails if the target exists. This system has none.
func renameNew(from, to Location) error { return unix.ENOSYS }

// isMountRoot reports whether a descriptor is the root of a bind mount. This system has none.
func isMountRoot(int) bool { return false }
