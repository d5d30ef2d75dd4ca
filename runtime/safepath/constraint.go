package safepath

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// A Room is the free space of a file system for this process, or what a quota leaves of it.
type Room struct {
	Device uint64 // of the file system
	Bytes  int64
	// Reserved is the part of Bytes that is kept free.
	Reserved int64
	Files    int64 // number of files that can be made
	// Quota names the owner or group whose files count, such as "uid 1000"; "" if all files do.
	Quota string
}

// Counts reports whether a file takes some of the room.
func (r Room) Counts(of *unix.Stat_t) bool {
	return r.Quota == "" || r.Quota == quotaName(userQuota, of.Uid) || r.Quota == quotaName(groupQuota, of.Gid)
}

// The kinds of quotas, as quotactl(2) has them.
const (
	userQuota = iota
	groupQuota
)

// quotaName returns the name of a quota for messages.
func quotaName(kind int, id uint32) string {
	return [...]string{"uid ", "gid "}[kind] + strconv.FormatUint(uint64(id), 10)
}

// A Constraint is what keeps a file or directory from being changed, whoever tries.
type Constraint struct {
	// Mounted is set if it is a mount point itself: nothing can get its place by a rename.
	Mounted bool
	// ReadOnly is set if it is on a read-only mount.
	ReadOnly bool
	// Immutable and AppendOnly are the flags of chattr(1).
	Immutable, AppendOnly bool
	// OfKernel is set if the kernel generates its content (proc(5), sysfs(5)).
	OfKernel bool
}

// IsMountPoint reports whether the open file is a mount point.
func (d *Handle) IsMountPoint() bool { return isMountRoot(d.FD) }

// IsOfKernel reports whether the kernel generates the content of the open file.
func (d *Handle) IsOfKernel() bool {
	var fs unix.Statfs_t
	return unix.Fstatfs(d.FD, &fs) == nil && holdsKernelFiles(&fs)
}
