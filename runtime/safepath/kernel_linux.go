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
	return time.Unix(st.Ctim.Unix()), st.Ino, true
}

// holdsKernelFiles reports whether the kernel makes up what the files of a file system hold.
func holdsKernelFiles(fs *unix.Statfs_t) bool {
	switch fs.Type {
	case unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC, unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC, unix.CGROUP_SUPER_MAGIC, unix.CGROUP2_SUPER_MAGIC, unix.SECURITYFS_MAGIC:
		return true
	}
	return false
}

// Fsync makes what was written to an open file durable.
func Fsync(fd int) error { return unix.Fsync(fd) }

// linkNotFollowed returns the error of opening a link that is not to be followed as ELOOP.
func linkNotFollowed(err error) error { return err } // which it is here

// renameNew is a rename to where nothing stands.
func renameNew(from, to Location) error {
	return unix.Renameat2(from.Dir.FD, from.Name, to.Dir.FD, to.Name, unix.RENAME_NOREPLACE)
}

// isMountRoot reports whether what is open is the top of a mount.
func isMountRoot(fd int) bool {
	var st unix.Statx_t
	err := unix.Statx(fd, "", unix.AT_EMPTY_PATH, 0, &st)
	return err == nil && st.Attributes_mask&st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0
}
