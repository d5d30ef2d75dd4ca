//go:build !portable

package safepath

import (
	"errors"
	"math"

	"golang.org/x/sys/unix"
)

// Constraint returns what keeps the open file or directory from being changed.
func (d *Handle) Constraint() (c Constraint) {
	var st unix.Statx_t
	if unix.Statx(d.FD, "", unix.AT_EMPTY_PATH, 0, &st) == nil {
		has := st.Attributes_mask & st.Attributes
		c.Mounted = has&unix.STATX_ATTR_MOUNT_ROOT != 0
		c.Immutable, c.AppendOnly = has&unix.STATX_ATTR_IMMUTABLE != 0, has&unix.STATX_ATTR_APPEND != 0
	}
	var fs unix.Statfs_t
	if unix.Fstatfs(d.FD, &fs) == nil {
		c.ReadOnly, c.OfKernel = fs.Flags&unix.ST_RDONLY != 0, holdsKernelFiles(&fs)
	}
	return c
}

// Room returns the free space of the file system of an open file or directory, for this process. Ok is false if the file
// system does not report it.
func (d *Handle) Room() (r Room, ok bool) {
	var fs unix.Statfs_t
	var st unix.Stat_t
	if unix.Fstatfs(d.FD, &fs) != nil || fs.Blocks == 0 || unix.Fstat(d.FD, &st) != nil {
		return r, false
	}
	free := fs.Bavail
	if uid, _ := Self(); uid == 0 {
		free = fs.Bfree
	}
	r = Room{Device: uint64(st.Dev), Bytes: int64(min(free*uint64(fs.Bsize), math.MaxInt64)), Files: math.MaxInt64}
	if fs.Files > 0 {
		r.Files = int64(min(fs.Ffree, math.MaxInt64))
	}
	return r, true
}

// MayWrite returns nil if this process may make and remove entries of the open directory.
func (d *Handle) MayWrite() error {
	path := d.ProcPath()
	if path == "" {
		return nil
	}
	return unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK|unix.X_OK, unix.AT_EACCESS)
}

// Preallocate reserves the room for a content of that size in an open file, without changing its size. It is not an error
// if the file system cannot do that.
func Preallocate(fd int, size int64) error {
	if size == 0 {
		return nil
	}
	err := IgnoringEINTR(func() error { return unix.Fallocate(fd, unix.FALLOC_FL_KEEP_SIZE, 0, size) })
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EFBIG) {
		return err
	}
	return nil
}
