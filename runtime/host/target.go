package host

import (
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/safepath"
)

// A target is a path that a host is about to change, and where it leads.
type target struct {
	safepath.Location
	h    *Host
	path string // as messages and pre-images name it
}

// at finds the place of a path that is about to be changed. Close gives it up.
func (h *Host) at(name string) (target, error) {
	p, err := h.files.At(name)
	return target{Location: p, h: h, path: name}, safepath.PathError("open", name, err)
}

// real returns where a name beside the target is for the operating system.
func (t target) real(p safepath.Location) string { return t.h.RealPath(t.path, p) }

// symlink makes a link beside the target.
func (t target) symlink(to string, at safepath.Location) error {
	return t.h.Effect("symlink", t.path, func() error {
		return safepath.PathError("symlink", t.real(at), unix.Symlinkat(to, at.Dir.FD, at.Name))
	})
}

// unlink removes what stands at the target or beside it.
func (t target) unlink(p safepath.Location) error {
	return t.h.Effect("remove", t.path, func() error { return safepath.PathError("remove", t.real(p), safepath.Unlink(p)) })
}

// syncDirectory makes what happened to the names in the directory durable.
func (t target) syncDirectory() error { return t.h.SyncDirectory(t.path, t.Dir) }

// SyncDirectory makes what happened to the names in the directory of a path durable.
func (h *Host) SyncDirectory(name string, d *safepath.Handle) error {
	return h.Effect("syncdir", filepath.Dir(name), func() error {
		fd, err := safepath.Location{Dir: d, Name: "."}.Open(unix.O_RDONLY|unix.O_DIRECTORY, 0)
		if err == unix.EACCES {
			return nil // one may write in a directory without being able to open it
		}
		if err != nil {
			return safepath.PathError("open", h.RealPath(name, safepath.Location{Dir: d, Name: "."}), err)
		}
		defer unix.Close(fd)
		err = safepath.IgnoringEINTR(func() error { return safepath.Fsync(fd) })
		if err == unix.EINVAL {
			return nil
		}
		return safepath.PathError("sync", h.RealPath(name, safepath.Location{Dir: d, Name: "."}), err)
	})
}
