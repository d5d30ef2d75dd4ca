package host

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/safepath"
)

const backupSuffix = ".ccm-old"

// backupName returns the name of a backup in a directory where nobody else can take that
// name.
func backupName(base string) string { return safepath.HiddenName(base, backupSuffix) }

// Backup gives the file or symbolic link at the path a second name in its directory, so that it
// can come back as it is after it was replaced. If nothing is there, a link that leads
// nowhere records that. [Host.Rollback] or [Host.DiscardBackup] must follow; if this
// process dies before, [View.HasBackup] says so. An earlier backup stays: it is what was
// there first.
func (h *Host) Backup(name string) error {
	p, err := h.at(name)
	if err != nil {
		return err
	}
	defer p.Close()
	if _, aside, err := backupOf(p.Location); err != nil || aside.Kind != Missing {
		return safepath.PathError("lstat", name, err)
	}
	info, err := p.Stat()
	if err != nil {
		return safepath.PathError("lstat", name, err)
	}
	old := safepath.Location{Dir: p.Dir, Name: backupName(p.Name)}
	if safepath.IsShared(&p.Dir.Stat) {
		old.Name = safepath.RandomName(p.Name, backupSuffix)
	}
	switch info.Kind {
	case Missing:
		// A link to itself leads nowhere, whatever is made later.
		err = p.symlink(old.Name, old)
	case Regular, Symlink:
		err = h.Effect("link", name, func() error {
			return safepath.PathError("link", p.real(old), unix.Linkat(p.Dir.FD, p.Name, old.Dir.FD, old.Name, 0))
		})
		if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EMLINK) {
			if info.Kind == Symlink {
				err = p.copyLink(old)
			} else {
				err = p.copyBackup(old, info)
			}
		}
	default:
		return fmt.Errorf("want a file to set aside, found %s", info.Kind)
	}
	if err != nil {
		return err
	}
	return p.syncDirectory()
}

// copyBackup makes a backup on file systems without hard links.
func (t target) copyBackup(old safepath.Location, info Info) error {
	return t.h.Effect("copy", t.path, func() (err error) {
		from, err := t.Open(unix.O_RDONLY|unix.O_NONBLOCK, 0)
		if err != nil {
			return safepath.PathError("open", t.path, err)
		}
		src := os.NewFile(uintptr(from), t.path)
		defer src.Close()
		temp := safepath.Location{Dir: old.Dir, Name: old.Name + "~"}
		_ = unix.Unlinkat(temp.Dir.FD, temp.Name, 0)
		to, err := temp.Open(unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o600)
		if err != nil {
			return safepath.PathError("open", t.real(temp), err)
		}
		dst := os.NewFile(uintptr(to), temp.Path())
		_, err = io.Copy(dst, src)
		err = errors.Join(err, dst.Chown(int(info.UID), int(info.GID)), dst.Chmod(safepath.FileMode(info.Mode)), safepath.SetMTime(to, info.MTime), dst.Sync(), dst.Close())
		if err == nil {
			err = safepath.Rename(temp, old)
		}
		if err != nil {
			return errors.Join(err, safepath.Unlink(temp))
		}
		return nil
	})
}

// copyLink makes a symbolic link that leads where the one at the target does.
func (t target) copyLink(old safepath.Location) error {
	to, err := t.Readlink()
	if err != nil {
		return safepath.PathError("readlink", t.path, err)
	}
	return t.symlink(to, old)
}

// backupOf finds the backup of a place, of kind Missing if there is none.
//
// Where others may make names in the directory, what is found counts only if its owner
// could have put it at the place as well, or if it is ours.
func backupOf(p safepath.Location) (safepath.Location, Info, error) {
	old := safepath.Location{Dir: p.Dir, Name: backupName(p.Name)}
	if !safepath.IsShared(&p.Dir.Stat) {
		info, err := old.Stat()
		if err == nil && info.Kind != Missing && !isBackup(info) {
			err = fmt.Errorf("%s: want a file that was set aside, found %s", old.Path(), info.Kind)
		}
		return old, info, err
	}
	names, err := safepath.NamesIn(p.Dir)
	if err != nil {
		return old, Info{}, err
	}
	now, err := p.Stat()
	if err != nil {
		return old, Info{}, err
	}
	for _, name := range names {
		if !safepath.IsRandomName(name, backupSuffix) || !strings.HasPrefix(name, safepath.RandomPrefix(p.Name, backupSuffix)) {
			continue
		}
		old.Name = name
		info, err := old.Stat()
		mine := safepath.IsOurs(info.UID) || info.UID == p.Dir.Stat.Uid || now.Kind == Regular && info.UID == now.UID
		if err != nil || isBackup(info) && mine {
			return old, info, err
		}
	}
	return old, Info{}, nil
}

// isBackup reports whether what is at a place is what Backup makes.
func isBackup(info Info) bool { return info.Kind == Regular || info.Kind == Symlink }

// recordsNothing reports whether a backup says that nothing was there: it is a link to
// itself.
func recordsNothing(old safepath.Location, info Info) (bool, error) {
	if info.Kind != Symlink {
		return false, nil
	}
	target, err := old.Readlink()
	return target == old.Name, err
}

// HasBackup reports whether there is a backup beside the path.
func (v *View) HasBackup(name string) (bool, error) {
	p, err := v.files.At(name)
	if safepath.IsMissing(err) {
		return false, nil
	}
	if err != nil {
		return false, safepath.PathError("open", name, err)
	}
	defer p.Close()
	_, info, err := backupOf(p)
	return err == nil && info.Kind != Missing, safepath.PathError("lstat", name, err)
}

// Rollback puts the backup back in its place: the very file, or nothing.
func (h *Host) Rollback(name string) error {
	p, err := h.at(name)
	if err != nil {
		return err
	}
	defer p.Close()
	old, info, err := backupOf(p.Location)
	if err != nil {
		return safepath.PathError("lstat", name, err)
	}
	if info.Kind == Missing {
		return fmt.Errorf("nothing is set aside for %s", name)
	}
	nothing, err := recordsNothing(old, info)
	if err != nil {
		return safepath.PathError("readlink", name, err)
	}
	h.log.Debug("put back", "path", name)
	if !nothing {
		err = h.Effect("rename", name, func() error { return safepath.Rename(old, p.Location) })
		if now, e := p.Stat(); err == nil && e == nil && now.Ino == info.Ino && now.Dev == info.Dev {
			// It was not replaced, and rename(2) leaves two names of one file alone.
			err = p.removeBackup(old)
		}
	} else {
		err = p.unlink(p.Location)
		if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		if err == nil {
			err = p.removeBackup(old)
		}
	}
	return errors.Join(err, p.syncDirectory())
}

// DiscardBackup removes the backup, if there is one.
func (h *Host) DiscardBackup(name string) error {
	p, err := h.at(name)
	if err != nil {
		return err
	}
	defer p.Close()
	old, _, err := backupOf(p.Location)
	if err != nil {
		return safepath.PathError("lstat", name, err)
	}
	return p.removeBackup(old)
}

func (t target) removeBackup(old safepath.Location) error {
	err := t.unlink(old)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
