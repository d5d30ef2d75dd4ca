package target

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/safepath"
)

const backupSuffix = ".ccm-old"

// backupName returns the name of a backup in a directory where nobody else can make that name.
func backupName(base string) string { return safepath.HiddenName(base, backupSuffix) }

// Backup gives the file or symbolic link at the target a second name in its directory. If the
// target is missing, a dangling link records that. An earlier backup stays. With copy a file is
// copied, because it is going to be written in place.
func (t Target) Backup(copy bool) error {
	if earlier, err := FindBackup(t.Location); err != nil || earlier.Exists() {
		return safepath.PathError("lstat", t.PathName, err)
	}
	info, err := t.Stat()
	if err != nil {
		return safepath.PathError("lstat", t.PathName, err)
	}
	old := safepath.Location{Dir: t.Dir, Name: backupName(t.Name)}
	if safepath.IsShared(&t.Dir.Stat) {
		old.Name = safepath.RandomName(t.Name, backupSuffix)
	}
	switch {
	case info.Kind == safepath.Missing:
		// A link to itself leads nowhere, whatever is made later.
		err = t.Symlink(old.Name, old)
	case copy && info.Kind == safepath.Regular:
		err = t.copyBackup(old, info)
	case info.Kind == safepath.Regular || info.Kind == safepath.Symlink:
		err = t.Effect("link", t.PathName, func() error {
			return safepath.PathError("link", t.Real(old), unix.Linkat(t.Dir.FD, t.Name, old.Dir.FD, old.Name, 0))
		})
		if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EMLINK) {
			if info.Kind == safepath.Symlink {
				err = t.copyLink(old)
			} else {
				err = t.copyBackup(old, info)
			}
		}
	default:
		return diag.Expected("a file to back up").Found("%s", info.Kind)
	}
	if err != nil {
		return err
	}
	return t.SyncDirectory()
}

// copyBackup makes a backup on file systems without hard links.
func (t Target) copyBackup(old safepath.Location, info safepath.Info) error {
	return t.Effect("copy", t.PathName, func() (err error) {
		from, err := t.Open(unix.O_RDONLY|unix.O_NONBLOCK, 0)
		if err != nil {
			return safepath.PathError("open", t.PathName, err)
		}
		src := os.NewFile(uintptr(from), t.PathName)
		defer src.Close()
		temp := safepath.Location{Dir: old.Dir, Name: old.Name + "~"}
		_ = unix.Unlinkat(temp.Dir.FD, temp.Name, 0)
		to, err := temp.Open(unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o600)
		if err != nil {
			return safepath.PathError("open", t.Real(temp), err)
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

// copyLink makes a symbolic link with the target of the one at t.
func (t Target) copyLink(old safepath.Location) error {
	to, err := t.Readlink()
	if err != nil {
		return safepath.PathError("readlink", t.PathName, err)
	}
	return t.Symlink(to, old)
}

// A BackupFile is the backup of a place: the file or link, or the record that the place was
// empty.
type BackupFile struct {
	at   safepath.Location
	info safepath.Info
}

// Exists reports whether there is a backup.
func (b BackupFile) Exists() bool { return b.info.Kind != safepath.Missing }

// Open opens a backup that is a file.
func (b BackupFile) Open() (*os.File, safepath.Info, error) {
	fd, err := b.at.Open(unix.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, b.info, safepath.PathError("open", b.at.Path(), err)
	}
	return os.NewFile(uintptr(fd), b.at.Path()), b.info, nil
}

// FindBackup finds the backup of a place.
//
// Where others may make names in the directory, a backup counts only if it is ours, or if its
// owner could also have put it at the place itself.
func FindBackup(p safepath.Location) (BackupFile, error) {
	old := BackupFile{at: safepath.Location{Dir: p.Dir, Name: backupName(p.Name)}}
	if !safepath.IsShared(&p.Dir.Stat) {
		var err error
		old.info, err = old.at.Stat()
		if err == nil && old.Exists() && !isBackup(old.info) {
			err = fmt.Errorf("%s: %w", old.at.Path(), diag.Expected("a backup copy").Found("%s", old.info.Kind))
		}
		return old, err
	}
	names, err := safepath.NamesIn(p.Dir)
	if err != nil {
		return old, err
	}
	now, err := p.Stat()
	if err != nil {
		return old, err
	}
	for _, name := range names {
		if !safepath.IsRandomName(name, backupSuffix) || !strings.HasPrefix(name, safepath.RandomPrefix(p.Name, backupSuffix)) {
			continue
		}
		found := BackupFile{at: safepath.Location{Dir: p.Dir, Name: name}}
		info, err := found.at.Stat()
		found.info = info
		mine := safepath.IsOurs(info.UID) || info.UID == p.Dir.Stat.Uid || now.Kind == safepath.Regular && info.UID == now.UID
		if err != nil || isBackup(info) && mine {
			return found, err
		}
	}
	return old, nil
}

// isBackup reports whether Backup could have made the entry.
func isBackup(info safepath.Info) bool {
	return info.Kind == safepath.Regular || info.Kind == safepath.Symlink
}

// recordsNothing reports whether a backup records that the place was empty: it is a link to
// itself.
func (b BackupFile) recordsNothing() (bool, error) {
	if b.info.Kind != safepath.Symlink {
		return false, nil
	}
	to, err := b.at.Readlink()
	return to == b.at.Name, err
}

// Rollback moves a backup to its place, or empties the place if the backup records that.
func (t Target) Rollback(old BackupFile) error {
	nothing, err := old.recordsNothing()
	if err != nil {
		return safepath.PathError("readlink", t.PathName, err)
	}
	if !nothing {
		err = t.Effect("rename", t.PathName, func() error { return safepath.Rename(old.at, t.Location) })
		if now, e := t.Stat(); err == nil && e == nil && now.Ino == old.info.Ino && now.Dev == old.info.Dev {
			// The entry was not replaced: rename(2) leaves two names of one file alone.
			err = t.RemoveBackup(old)
		}
	} else {
		err = t.Unlink(t.Location)
		if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		if err == nil {
			err = t.RemoveBackup(old)
		}
	}
	return errors.Join(err, t.SyncDirectory())
}

// RemoveBackup removes a backup, if it is there.
func (t Target) RemoveBackup(old BackupFile) error {
	err := t.Unlink(old.at)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
