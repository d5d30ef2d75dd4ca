package host

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/host/target"
	"github.com/luaccm/ccm/runtime/safepath"
)

// Remove removes the file, link or empty directory at the path.
func (h *Host) Remove(name string) error {
	p, err := h.at(name)
	if err != nil {
		return err
	}
	defer p.Close()
	return h.removeAt(p)
}

// removeAt is [Host.Remove] for a target.
func (h *Host) removeAt(t target.Target) error {
	h.log.Debug("remove", "path", t.PathName)
	if err := h.announce(t, true); err != nil {
		return err
	}
	if err := t.Unlink(t.Location); err != nil {
		if errors.Is(err, unix.EBUSY) {
			return mountPointError(t.PathName)
		}
		return err
	}
	return t.SyncDirectory()
}

// A keepFunc returns the paths below a directory that are not removed with it.
type keepFunc func(dir string) ([]string, error)

// Keeping returns a copy of h whose RemoveTree asks keep for the paths below the directory that stay,
// with all that is below these and the directories above them.
func Keeping(h *Host, keep func(dir string) ([]string, error)) *Host {
	c := *h
	c.keep = keep
	return &c
}

// stays returns what stays of the directory at a path, by relative path: true for an entry that
// stays with all that is below it, false for a directory above one.
func stays(h *Host, name string) (map[string]bool, error) {
	if h.keep == nil {
		return nil, nil
	}
	paths, err := h.keep(filepath.Clean(name))
	if err != nil {
		return nil, diag.Not(name, "removed: %w", err)
	}
	stays := make(map[string]bool)
	for _, p := range paths {
		rel, err := filepath.Rel(filepath.Clean(name), p)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		stays[rel] = true
		for dir := filepath.Dir(rel); dir != "."; dir = filepath.Dir(dir) {
			if _, known := stays[dir]; known {
				break
			}
			stays[dir] = false
		}
	}
	return stays, nil
}

// RemoveTree removes the directory at the path and everything in it but what stays: see [Keeping].
// The root itself is refused.
func (h *Host) RemoveTree(name string) error {
	if filepath.Clean(name) == "/" {
		return diag.Cannot("remove", "/", nil)
	}
	p, err := h.at(name)
	if err != nil {
		return err
	}
	defer p.Close()
	top, err := p.OpenDirectory()
	if err == unix.ENOTDIR || err == unix.ELOOP {
		return h.removeAt(p)
	}
	if err != nil {
		return safepath.PathError("open", name, err)
	}
	defer top.Close()
	h.log.Debug("remove tree", "path", name)
	err = CheckMounts(&h.View, overlay.PathEffect{Path: name, Kind: safepath.Missing}) // knows mounted files too
	if err == nil {
		err = holdsNoMount(name, p.Dir, top)
	}
	if err != nil {
		return err
	}
	kept, err := stays(h, name)
	if err != nil {
		return err
	}
	if len(kept) > 0 {
		return removeAround(h, p, top, kept)
	}
	if err := h.announceTree(p, top); err != nil {
		return err
	}
	err = h.Effect("remove", name, func() error {
		if err := safepath.Empty(top); err != nil {
			return err
		}
		return safepath.RemoveEmpty(p.Location, top)
	})
	if err != nil {
		return safepath.PathError("remove", p.Real(p.Location), err)
	}
	return p.SyncDirectory()
}

// removeAround removes what does not stay of a directory, open as top.
func removeAround(h *Host, t target.Target, top *safepath.Handle, stays map[string]bool) error {
	entries, err := safepath.ListTree(top, nil)
	if err != nil {
		return err
	}
	var gone []safepath.TreeEntry
	goes := make(map[string]bool)
	for _, e := range entries { // directories come before their entries
		in := filepath.Dir(e.Rel)
		if stays[in] {
			stays[e.Rel] = true
		}
		if _, ok := stays[e.Rel]; !ok {
			goes[e.Rel] = true
			gone = append(gone, e)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	if err := announceEntries(h, t, top, gone, false); err != nil {
		return err
	}
	err = h.Effect("remove", t.PathName, func() error {
		for _, e := range gone {
			if goes[filepath.Dir(e.Rel)] {
				continue // it goes with its directory
			}
			p, err := h.files.Beneath(top).To(e.Rel, false)
			if err == nil {
				err = safepath.RemoveAll(p)
				p.Close()
			}
			if err != nil && !safepath.IsMissing(err) {
				return safepath.PathError("remove", filepath.Join(t.PathName, e.Rel), err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return h.SyncDirectory(t.PathName, top)
}

// holdsNoMount returns an error if there is a mount point at or below a path: the mounted files
// are not ours to remove.
func holdsNoMount(name string, above, d *safepath.Handle) error {
	if d.IsMount(above) {
		return mountPointError(name)
	}
	return safepath.EachIn(d, func(p safepath.Location, info safepath.Info) error {
		if info.Kind != safepath.Directory {
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

// RemoveBelow removes the file, link or empty directory at rel below the directory dir. No link
// on the way leads out of dir, even if somebody changes it meanwhile. A missing path is not an error.
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
	p := h.targetAt(place, name)
	if err := h.announce(p, true); err != nil {
		return err
	}
	err = p.Unlink(p.Location)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
