package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/safepath"
)

// Remove removes the file, link or empty directory at the path.
func (h *Host) Remove(name string) error {
	p, err := h.at(name)
	if err != nil {
		return err
	}
	defer p.Close()
	return p.remove()
}

// remove is [Host.Remove] for a target.
func (t target) remove() error {
	t.h.log.Debug("remove", "path", t.path)
	if err := t.announce(true); err != nil {
		return err
	}
	if err := t.unlink(t.Location); err != nil {
		return err
	}
	return t.syncDirectory()
}

// RemoveTree removes the directory at the path and everything in it. The root
// itself is refused.
func (h *Host) RemoveTree(name string) error {
	if filepath.Clean(name) == "/" {
		return errors.New("refusing to remove /")
	}
	p, err := h.at(name)
	if err != nil {
		return err
	}
	defer p.Close()
	top, err := p.OpenDirectory()
	if err == unix.ENOTDIR || err == unix.ELOOP {
		return p.remove()
	}
	if err != nil {
		return safepath.PathError("open", name, err)
	}
	defer top.Close()
	h.log.Debug("remove tree", "path", name)
	if err := holdsNoMount(name, p.Dir, top); err != nil {
		return err
	}
	if err := p.announceTree(top); err != nil {
		return err
	}
	err = h.Effect("remove", name, func() error {
		if err := safepath.Empty(top); err != nil {
			return err
		}
		return safepath.RemoveEmpty(p.Location, top)
	})
	if err != nil {
		return safepath.PathError("remove", p.real(p.Location), err)
	}
	return p.syncDirectory()
}

// holdsNoMount reports a mount point at or below a path. What is mounted there is
// somebody else's.
func holdsNoMount(name string, above, d *safepath.Handle) error {
	if d.IsMount(above) {
		return fmt.Errorf("%s is a mount point, and is not removed with what is mounted there", name)
	}
	return safepath.EachIn(d, func(p safepath.Location, info Info) error {
		if info.Kind != Directory {
			return nil
		}
		sub, err := p.OpenDirectory()
		if err != nil {
			return safepath.UnlessGone(safepath.PathError("open", filepath.Join(name, p.Name), err))
		}
		defer sub.Close()
		return holdsNoMount(filepath.Join(name, p.Name), d, sub)
	})
}

// RemoveBelow removes the file, link or empty directory at rel below the
// directory dir. No link on the way leads out of dir, whatever is done to it
// meanwhile. What is not there is not an error.
func (h *Host) RemoveBelow(dir, rel string) error {
	name := filepath.Join(dir, rel)
	d, err := h.files.Directory(dir)
	if err == unix.ENOENT {
		return nil
	}
	if err != nil {
		return safepath.PathError("open", dir, err)
	}
	defer d.Close()
	place, err := h.files.Beneath(d).To(rel, false)
	if safepath.IsMissing(err) {
		return nil
	}
	if err != nil {
		return safepath.PathError("open", name, err)
	}
	defer place.Close()
	h.log.Debug("remove", "path", name)
	p := target{Location: place, h: h, path: name}
	if err := p.announce(true); err != nil {
		return err
	}
	err = p.unlink(p.Location)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
