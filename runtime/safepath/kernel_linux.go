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
	return time.Unix(st.Ctim.Unix()), st.Ino, true
}

// holdsKernelFiles reports whether the kernel generates the content of the file system's files.
func holdsKernelFiles(fs *unix.Statfs_t) bool {
	switch fs.Type {
	case unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC, unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC, unix.CGROUP_SUPER_MAGIC, unix.CGROUP2_SUPER_MAGIC, unix.SECURITYFS_MAGIC:
		return true
	}
	return false
}

// Fsync makes written data durable.
func Fsync(fd int) error { return unix.Fsync(fd) }

// linkNotFollowed returns the error of a file that is a link, opened with O_NOFOLLOW, as ELOOP.
func linkNotFollowed(err error) error { return err } // which it is here

// renameNew is a rename that fails if the target exists.
func renameNew(from, to Location) error {
	return unix.Renameat2(from.Dir.FD, from.Name, to.Dir.FD, to.Name, unix.RENAME_NOREPLACE)
}

// isMountRoot reports whether a descriptor is the root of a mount.
func isMountRoot(fd int) bool {
	var st unix.Statx_t
	err := unix.Statx(fd, "", unix.AT_EMPTY_PATH, 0, &st)
	return err == nil && st.Attributes_mask&st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0
}
