package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Remove removes the file, link or empty directory at the path.
func (h *Host) Remove(name string) error {
	p, err := h.at(name)
	if err != nil {
		return err
	}
	defer p.close()
	return h.remove(name, p)
}

// remove is Remove for a place.
func (h *Host) remove(name string, p location) error {
	h.log.Debug("remove", "path", name)
	if err := h.doomed(name, p, true); err != nil {
		return err
	}
	err := h.do("remove", name, func() error { return pathError("remove", h.realPath(name, p), unlink(p)) })
	if err != nil {
		return err
	}
	return h.syncDir(name, p.dir)
}

// unlink removes the file, link or empty directory at a place.
func unlink(p location) error {
	err := ignoringEINTR(func() error { return unix.Unlinkat(p.dir.fd, p.name, 0) })
	if err != unix.EISDIR && err != unix.EPERM {
		return err
	}
	if e := ignoringEINTR(func() error { return unix.Unlinkat(p.dir.fd, p.name, unix.AT_REMOVEDIR) }); e != unix.ENOTDIR {
		return e
	}
	return err
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
	defer p.close()
	top, err := p.openDirectory()
	if err == unix.ENOTDIR || err == unix.ELOOP {
		return h.remove(name, p)
	}
	if err != nil {
		return pathError("open", name, err)
	}
	defer top.close()
	h.log.Debug("remove tree", "path", name)
	if err := holdsNoMount(name, p.dir, top); err != nil {
		return err
	}
	if err := h.doomedTree(name, p, top); err != nil {
		return err
	}
	err = h.do("remove", name, func() error {
		if err := empty(top); err != nil {
			return err
		}
		return removeEmpty(p, top)
	})
	if err != nil {
		return pathError("remove", h.realPath(name, p), err)
	}
	return h.syncDir(name, p.dir)
}

// holdsNoMount reports a mount point at or below a path. What is mounted there is
// somebody else's.
func holdsNoMount(name string, above, d *handle) error {
	if d.st.Dev != above.st.Dev {
		return fmt.Errorf("%s is a mount point, and is not removed with what is mounted there", name)
	}
	return eachIn(d, func(p location, info Info) error {
		if info.Kind != Directory {
			return nil
		}
		sub, err := p.openDirectory()
		if err != nil {
			return unlessGone(pathError("open", filepath.Join(name, p.name), err))
		}
		defer sub.close()
		return holdsNoMount(filepath.Join(name, p.name), d, sub)
	})
}

// mostSweeps is how often a directory is emptied into which somebody puts more.
const mostSweeps = 40

// empty removes everything in a directory, but nothing on another file system.
func empty(d *handle) error {
	for range mostSweeps {
		names, err := namesIn(d)
		if err != nil || len(names) == 0 {
			return err
		}
		for _, name := range names {
			if err := removeAll(location{dir: d, name: name}); err != nil && err != unix.ENOENT {
				return err
			}
		}
	}
	return unix.ENOTEMPTY
}

// removeAll removes what is at a place, with everything in it.
func removeAll(p location) error {
	err := unlink(p)
	if err != unix.ENOTEMPTY && err != unix.EEXIST {
		return err
	}
	sub, err := p.openDirectory()
	if err != nil {
		return err
	}
	defer sub.close()
	if sub.st.Dev != p.dir.st.Dev {
		return unix.EBUSY
	}
	if err := empty(sub); err != nil {
		return err
	}
	return removeEmpty(p, sub)
}

// removeEmpty removes a directory that was emptied, if it is still at its place.
func removeEmpty(p location, d *handle) error {
	var st unix.Stat_t
	err := unix.Fstatat(p.dir.fd, p.name, &st, unix.AT_SYMLINK_NOFOLLOW)
	if err == nil && (st.Dev != d.st.Dev || st.Ino != d.st.Ino) {
		return errors.New("something else was put in its place meanwhile")
	}
	if err != nil {
		return err
	}
	return unix.Unlinkat(p.dir.fd, p.name, unix.AT_REMOVEDIR)
}

// unlessGone returns nil if an error says that what was listed is not there any more, or is
// no directory any more.
func unlessGone(err error) error {
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return nil
	}
	return err
}

// RemoveBelow removes the file, link or empty directory at rel below the
// directory dir. No link on the way leads out of dir, whatever is done to it
// meanwhile. What is not there is not an error.
func (h *Host) RemoveBelow(dir, rel string) error {
	name := filepath.Join(dir, rel)
	d, err := h.files.directory(dir)
	if err == unix.ENOENT {
		return nil
	}
	if err != nil {
		return pathError("open", dir, err)
	}
	defer d.close()
	p, err := h.files.beneath(d).to(rel, false)
	if isMissing(err) {
		return nil
	}
	if err != nil {
		return pathError("open", name, err)
	}
	defer p.close()
	h.log.Debug("remove", "path", name)
	if err := h.doomed(name, p, true); err != nil {
		return err
	}
	err = h.do("remove", name, func() error { return pathError("remove", h.realPath(name, p), unlink(p)) })
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
