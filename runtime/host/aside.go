package host

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// asideName returns the name under which a file is set aside.
func asideName(base string) string {
	const suffix = ".ccm-old"
	return "." + base[:min(len(base), 255-len(suffix)-1)] + suffix
}

// SetAside gives the file at the path a second name in its directory, so that it
// can come back as it is after it was replaced. If nothing is there, that is
// noted in its place. [Host.PutBack] or [Host.DropAside] must follow; if this
// process dies before, [View.IsAside] tells so. What was set aside before stays:
// it is what was there first.
func (h *Host) SetAside(name string) error {
	aside, err := h.IsAside(name)
	if err != nil || aside {
		return err
	}
	path, err := h.real(name)
	if err != nil {
		return err
	}
	info, err := h.Lstat(name)
	if err != nil {
		return err
	}
	old := filepath.Join(filepath.Dir(path), asideName(filepath.Base(path)))
	switch info.Kind {
	case Missing:
		// A link to itself leads nowhere, whatever is made later.
		err = h.do("symlink", name, func() error { return os.Symlink(filepath.Base(old), old) })
	case Regular:
		err = h.do("link", name, func() error { return os.Link(path, old) })
		if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.EMLINK) {
			err = h.copyAside(path, old, name, info)
		}
	default:
		return fmt.Errorf("want a file to set aside, found %s", info.Kind)
	}
	if err != nil {
		return err
	}
	return h.syncDir(name)
}

// copyAside is for file systems without hard links.
func (h *Host) copyAside(path, old, name string, info Info) (err error) {
	return h.do("copy", name, func() (err error) {
		src, err := os.Open(path)
		if err != nil {
			return err
		}
		defer src.Close()
		temp := old + "~"
		dst, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			return err
		}
		_, err = io.Copy(dst, src)
		err = errors.Join(err, dst.Chown(int(info.UID), int(info.GID)), dst.Chmod(fileMode(info.Mode)), dst.Sync(), dst.Close())
		if err == nil {
			err = os.Chtimes(temp, info.MTime, info.MTime)
		}
		if err == nil {
			err = os.Rename(temp, old)
		}
		if err != nil {
			return errors.Join(err, os.Remove(temp))
		}
		return nil
	})
}

// IsAside reports whether something is set aside for the path.
func (v *View) IsAside(name string) (bool, error) {
	info, err := v.Lstat(filepath.Join(filepath.Dir(name), asideName(filepath.Base(name))))
	return info.Kind != Missing, err
}

// PutBack gives the path back what was set aside: the very file, or nothing.
func (h *Host) PutBack(name string) error {
	path, err := h.real(name)
	if err != nil {
		return err
	}
	aside := asideName(filepath.Base(path))
	info, err := h.Lstat(filepath.Join(filepath.Dir(name), aside))
	if err != nil {
		return err
	}
	old := filepath.Join(filepath.Dir(path), aside)
	h.log.Debug("put back", "path", name)
	switch info.Kind {
	case Missing:
		return fmt.Errorf("nothing is set aside for %s", name)
	case Regular:
		err = h.do("rename", name, func() error { return os.Rename(old, path) })
		if now, e := h.Lstat(name); err == nil && e == nil && now.Ino == info.Ino && now.Dev == info.Dev {
			// It was not replaced, and rename(2) leaves two names of one file alone.
			err = h.DropAside(name)
		}
	default:
		err = h.do("remove", name, func() error { return os.Remove(path) })
		if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		if err == nil {
			err = h.do("remove", name, func() error { return os.Remove(old) })
		}
	}
	return errors.Join(err, h.syncDir(name))
}

// DropAside forgets what was set aside, if anything was.
func (h *Host) DropAside(name string) error {
	path, err := h.real(name)
	if err != nil {
		return err
	}
	old := filepath.Join(filepath.Dir(path), asideName(filepath.Base(path)))
	err = h.do("remove", name, func() error { return os.Remove(old) })
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
