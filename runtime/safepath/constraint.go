package safepath

import "golang.org/x/sys/unix"

// A Room is the free space of a file system for this process.
type Room struct {
	Device uint64 // of the file system
	Bytes  int64
	Files  int64 // number of files that can be made
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
