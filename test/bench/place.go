package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// A place is a directory that is worked in.
type place struct {
	dir   string
	kind  string // of file system
	moved int
}

// fileSystems are the names of file systems by their magic numbers (statfs(2)).
var fileSystems = map[int64]string{
	unix.TMPFS_MAGIC: "tmpfs", unix.EXT4_SUPER_MAGIC: "ext4", unix.BTRFS_SUPER_MAGIC: "btrfs", unix.XFS_SUPER_MAGIC: "xfs",
	unix.OVERLAYFS_SUPER_MAGIC: "overlayfs", unix.F2FS_SUPER_MAGIC: "f2fs",
}

// newPlace makes a directory below parent.
func newPlace(parent string) (*place, error) {
	dir, err := os.MkdirTemp(parent, "ccm-bench-")
	if err != nil {
		return nil, err
	}
	// Paths are compared and are part of what is written, so that they stand for
	// themselves.
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, err
	}
	p := &place{dir: dir}
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return nil, err
	}
	var ok bool
	if p.kind, ok = fileSystems[int64(st.Type)]; !ok {
		p.kind = fmt.Sprintf("file system %#x", st.Type)
	}
	return p, nil
}

// path returns a path in p.
func (p *place) path(elem ...string) string {
	return filepath.Join(append([]string{p.dir}, elem...)...)
}

// sync has everything written that was changed in p, so that the next program
// does not pay for the one before it.
func (p *place) sync() error {
	fd, err := unix.Open(p.dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(fd), unix.Close(fd))
}

// open makes the directories that are worked in: one in memory, if there is such
// a place, and one on a disk.
func (b *bench) open() error {
	parent := b.options.dir
	if parent == "" {
		parent = os.TempDir()
		if fi, err := os.Stat("/dev/shm"); err == nil && fi.IsDir() && unix.Access("/dev/shm", unix.W_OK) == nil {
			parent = "/dev/shm"
		}
	}
	var err error
	if b.mem, err = newPlace(parent); err != nil {
		return err
	}
	if parent = b.options.disk; parent == "" {
		if parent, err = os.UserCacheDir(); err != nil {
			parent = os.TempDir()
		}
		if err := os.MkdirAll(parent, 0o700); err != nil {
			return err
		}
	}
	p, err := newPlace(parent)
	if err != nil {
		return err
	}
	if p.kind == "tmpfs" {
		return os.RemoveAll(p.dir)
	}
	b.disk = p
	return nil
}
