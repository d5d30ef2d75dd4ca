package host

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const asideSuffix = ".ccm-old"

// asideName returns the name under which a file is set aside where nobody else can take
// that.
func asideName(base string) string { return hiddenName(base, asideSuffix) }

// SetAside gives the file at the path a second name in its directory, so that it
// can come back as it is after it was replaced. If nothing is there, that is
// noted in its place. [Host.PutBack] or [Host.DropAside] must follow; if this
// process dies before, [View.IsAside] tells so. What was set aside before stays:
// it is what was there first.
func (h *Host) SetAside(name string) error {
	p, err := h.at(name)
	if err != nil {
		return err
	}
	defer p.close()
	if _, aside, err := asideOf(p); err != nil || aside.Kind != Missing {
		return pathError("lstat", name, err)
	}
	info, err := p.stat()
	if err != nil {
		return pathError("lstat", name, err)
	}
	old := location{dir: p.dir, name: asideName(p.name)}
	if isShared(&p.dir.st) {
		old.name = randomName(p.name, asideSuffix)
	}
	switch info.Kind {
	case Missing:
		// A link to itself leads nowhere, whatever is made later.
		err = h.do("symlink", name, func() error {
			return pathError("symlink", h.realPath(name, old), unix.Symlinkat(old.name, old.dir.fd, old.name))
		})
	case Regular:
		err = h.do("link", name, func() error {
			return pathError("link", h.realPath(name, old), unix.Linkat(p.dir.fd, p.name, old.dir.fd, old.name, 0))
		})
		if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EMLINK) {
			err = h.copyAside(name, p, old, info)
		}
	default:
		return fmt.Errorf("want a file to set aside, found %s", info.Kind)
	}
	if err != nil {
		return err
	}
	return h.syncDir(name, p.dir)
}

// copyAside is for file systems without hard links.
func (h *Host) copyAside(name string, p, old location, info Info) (err error) {
	return h.do("copy", name, func() (err error) {
		from, err := p.open(unix.O_RDONLY|unix.O_NONBLOCK, 0)
		if err != nil {
			return pathError("open", name, err)
		}
		src := os.NewFile(uintptr(from), name)
		defer src.Close()
		temp := location{dir: old.dir, name: old.name + "~"}
		_ = unix.Unlinkat(temp.dir.fd, temp.name, 0)
		to, err := temp.open(unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o600)
		if err != nil {
			return pathError("open", h.realPath(name, temp), err)
		}
		dst := os.NewFile(uintptr(to), temp.path())
		_, err = io.Copy(dst, src)
		err = errors.Join(err, dst.Chown(int(info.UID), int(info.GID)), dst.Chmod(fileMode(info.Mode)), setTime(to, info.MTime), dst.Sync(), dst.Close())
		if err == nil {
			err = rename(temp, old)
		}
		if err != nil {
			return errors.Join(err, unlink(temp))
		}
		return nil
	})
}

// setTime sets when a file that is open was changed last.
func setTime(fd int, at time.Time) error {
	ts, err := unix.TimeToTimespec(at)
	if err != nil {
		return err
	}
	return unix.UtimesNanoAt(fd, "", []unix.Timespec{ts, ts}, unix.AT_EMPTY_PATH)
}

// asideOf finds what is set aside for a place, of kind Missing if nothing is.
//
// Where others may make names in the directory, what is found counts only if its owner
// could have put it at the place as well, or if it is ours.
func asideOf(p location) (location, Info, error) {
	old := location{dir: p.dir, name: asideName(p.name)}
	if !isShared(&p.dir.st) {
		info, err := old.stat()
		if err == nil && info.Kind != Missing && !isAside(old, info) {
			err = fmt.Errorf("%s: want a file that was set aside, found %s", old.path(), info.Kind)
		}
		return old, info, err
	}
	names, err := namesIn(p.dir)
	if err != nil {
		return old, Info{}, err
	}
	now, err := p.stat()
	if err != nil {
		return old, Info{}, err
	}
	for _, name := range names {
		if !isRandomName(name, asideSuffix) || !strings.HasPrefix(name, randomPrefix(p.name, asideSuffix)) {
			continue
		}
		old.name = name
		info, err := old.stat()
		mine := isOurs(info.UID) || info.UID == p.dir.st.Uid || now.Kind == Regular && info.UID == now.UID
		if err != nil || isAside(old, info) && mine {
			return old, info, err
		}
	}
	return old, Info{}, nil
}

// isAside reports whether what is at a place is what SetAside leaves.
func isAside(old location, info Info) bool {
	if info.Kind != Symlink {
		return info.Kind == Regular
	}
	target, err := old.readlink()
	return err == nil && target == old.name
}

// IsAside reports whether something is set aside for the path.
func (v *View) IsAside(name string) (bool, error) {
	p, err := v.files.at(name)
	if isMissing(err) {
		return false, nil
	}
	if err != nil {
		return false, pathError("open", name, err)
	}
	defer p.close()
	_, info, err := asideOf(p)
	return err == nil && info.Kind != Missing, pathError("lstat", name, err)
}

// PutBack gives the path back what was set aside: the very file, or nothing.
func (h *Host) PutBack(name string) error {
	p, err := h.at(name)
	if err != nil {
		return err
	}
	defer p.close()
	old, info, err := asideOf(p)
	if err != nil {
		return pathError("lstat", name, err)
	}
	h.log.Debug("put back", "path", name)
	switch info.Kind {
	case Missing:
		return fmt.Errorf("nothing is set aside for %s", name)
	case Regular:
		err = h.do("rename", name, func() error { return rename(old, p) })
		if now, e := p.stat(); err == nil && e == nil && now.Ino == info.Ino && now.Dev == info.Dev {
			// It was not replaced, and rename(2) leaves two names of one file alone.
			err = h.dropAside(name, old)
		}
	default:
		err = h.do("remove", name, func() error { return pathError("remove", h.realPath(name, p), unlink(p)) })
		if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		if err == nil {
			err = h.dropAside(name, old)
		}
	}
	return errors.Join(err, h.syncDir(name, p.dir))
}

// DropAside forgets what was set aside, if anything was.
func (h *Host) DropAside(name string) error {
	p, err := h.at(name)
	if err != nil {
		return err
	}
	defer p.close()
	old, _, err := asideOf(p)
	if err != nil {
		return pathError("lstat", name, err)
	}
	return h.dropAside(name, old)
}

func (h *Host) dropAside(name string, old location) error {
	err := h.do("remove", name, func() error { return pathError("remove", h.realPath(name, old), unlink(old)) })
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
