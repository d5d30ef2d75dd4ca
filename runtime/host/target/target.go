// Package target changes the entry at a path and the names beside it: links, temporary names,
// backups, owner and mode. It asks before each effect.
package target

import (
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/safepath"
)

// Effects is the host that makes a change.
type Effects interface {
	// Effect asks whether an effect may happen, and performs it. Op is the system call, path its
	// object.
	Effect(op, path string, effect func() error) error
	// RealPath returns the path for the operating system of a place in the directory of a path.
	RealPath(name string, p safepath.Location) string
}

// A Target is a path that a host is about to change, and its place.
type Target struct {
	safepath.Location
	Effects
	PathName string // the path in messages and pre-images
	Sweeps   *Sweeps
}

// Real returns the path for the operating system of a place beside the target.
func (t Target) Real(p safepath.Location) string { return t.RealPath(t.PathName, p) }

// Symlink makes a link beside the target.
func (t Target) Symlink(to string, at safepath.Location) error {
	return t.Effect("symlink", t.PathName, func() error {
		return safepath.PathError("symlink", t.Real(at), unix.Symlinkat(to, at.Dir.FD, at.Name))
	})
}

// Unlink removes the entry at the target or beside it.
func (t Target) Unlink(p safepath.Location) error {
	return t.Effect("remove", t.PathName, func() error { return safepath.PathError("remove", t.Real(p), safepath.Unlink(p)) })
}

// SyncDirectory makes the names in the directory durable.
func (t Target) SyncDirectory() error { return SyncDirectory(t.Effects, t.PathName, t.Dir) }

// SyncDirectory makes the names in the directory of a path durable.
func SyncDirectory(e Effects, name string, d *safepath.Handle) error {
	return e.Effect("syncdir", filepath.Dir(name), func() error {
		fd, err := safepath.Location{Dir: d, Name: "."}.Open(unix.O_RDONLY|unix.O_DIRECTORY, 0)
		if err == unix.EACCES {
			return nil // a directory may be writable and not readable
		}
		if err != nil {
			return safepath.PathError("open", e.RealPath(name, safepath.Location{Dir: d, Name: "."}), err)
		}
		defer unix.Close(fd)
		err = safepath.IgnoringEINTR(func() error { return safepath.Fsync(fd) })
		if err == unix.EINVAL {
			return nil
		}
		return safepath.PathError("sync", e.RealPath(name, safepath.Location{Dir: d, Name: "."}), err)
	})
}
