// Package target changes what stands at a path, and the names beside it: links, temporary names,
// backups, owner and mode. It asks about each effect before it makes it.
package target

import (
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/safepath"
)

// Effects is the host on whose behalf something is changed.
type Effects interface {
	// Effect asks whether an effect may happen and makes it happen. Op is the system call, path
	// what it is about.
	Effect(op, path string, effect func() error) error
	// RealPath returns where a place in the directory of a path is for the operating system.
	RealPath(name string, p safepath.Location) string
}

// A Target is a path that a host is about to change, and where it leads.
type Target struct {
	safepath.Location
	Effects
	PathName string // the path as messages and pre-images have it
	Sweeps   *Sweeps
}

// Real returns where a name beside the target is for the operating system.
func (t Target) Real(p safepath.Location) string { return t.RealPath(t.PathName, p) }

// Symlink makes a link beside the target.
func (t Target) Symlink(to string, at safepath.Location) error {
	return t.Effect("symlink", t.PathName, func() error {
		return safepath.PathError("symlink", t.Real(at), unix.Symlinkat(to, at.Dir.FD, at.Name))
	})
}

// Unlink removes what stands at the target or beside it.
func (t Target) Unlink(p safepath.Location) error {
	return t.Effect("remove", t.PathName, func() error { return safepath.PathError("remove", t.Real(p), safepath.Unlink(p)) })
}

// SyncDirectory makes what happened to the names in the directory durable.
func (t Target) SyncDirectory() error { return SyncDirectory(t.Effects, t.PathName, t.Dir) }

// SyncDirectory makes what happened to the names in the directory of a path durable.
func SyncDirectory(e Effects, name string, d *safepath.Handle) error {
	return e.Effect("syncdir", filepath.Dir(name), func() error {
		fd, err := safepath.Location{Dir: d, Name: "."}.Open(unix.O_RDONLY|unix.O_DIRECTORY, 0)
		if err == unix.EACCES {
			return nil // one may write in a directory without being able to open it
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
