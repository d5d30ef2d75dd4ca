//go:build darwin || freebsd

package safepath

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// CTimeOf returns when the inode of a file was changed last, its number besides. Ok is false
// if that is not known.
func CTimeOf(fi os.FileInfo) (at time.Time, inode uint64, ok bool) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return at, 0, false
	}
	return time.Unix(st.Ctimespec.Unix()), st.Ino, true
}

// holdsKernelFiles reports whether the kernel makes up what the files of a file system hold.
func holdsKernelFiles(fs *unix.Statfs_t) bool {
	switch unix.ByteSliceToString(fs.Fstypename[:]) {
	case "procfs", "linprocfs", "linsysfs", "devfs", "fdescfs":
		return true
	}
	return false
}

// searchOnly opens a directory that may not be read, to go on from there.
const searchOnly = unix.O_SEARCH

// renameNew is a rename to where nothing stands.
func renameNew(from, to Location) error { return unix.ENOSYS }

// isMountRoot reports whether what is open is the top of a mount of the same device, which
// there is not.
func isMountRoot(int) bool { return false }
