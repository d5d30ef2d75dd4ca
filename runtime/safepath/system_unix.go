//go:build !linux || portable

package safepath

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Without O_PATH only directories and what can be read are held open. Everything else is
// known by its name in a directory that is held open, and by what was found there: it is
// compared again before it is changed. Between that and the change somebody who may write
// to the directory can still put another of his files there.
//
// The build tag portable takes this on Linux too, where the tests try it.

// pathOnly is 0: there is no such flag.
const pathOnly = 0

// HoldsLinks says that links cannot be held open.
const HoldsLinks = false

// OpenDirectoryAt opens a directory to go on from there. Flags are added to those of that.
func OpenDirectoryAt(dir int, name string, flags int) (fd int, err error) {
	open := func(access int) error {
		return IgnoringEINTR(func() (err error) {
			fd, err = unix.Openat(dir, name, access|unix.O_DIRECTORY|unix.O_CLOEXEC|flags, 0)
			return err
		})
	}
	if err = open(unix.O_RDONLY); err == unix.EACCES {
		err = open(searchOnly)
	}
	return fd, linkNotFollowed(err)
}

// OpenPath returns what is at the place, whatever it is.
func (p Location) OpenPath() (*Handle, error) {
	d := &Handle{FD: -1, Path: p.Path()}
	if err := p.fstatat(&d.Stat); err != nil {
		return nil, err
	}
	if d.Stat.Mode&unix.S_IFMT == unix.S_IFDIR {
		return p.OpenDirectory()
	}
	d.at = Location{Dir: p.Dir.Hold(), Name: p.Name}
	return d, nil
}

func (p Location) fstatat(st *unix.Stat_t) error {
	return IgnoringEINTR(func() error { return unix.Fstatat(p.Dir.FD, p.Name, st, unix.AT_SYMLINK_NOFOLLOW) })
}

// readlink returns where a link points.
func (d *Handle) readlink() (string, error) { return d.at.Readlink() }

// Chmod sets the permissions of what was found.
func (d *Handle) Chmod(mode uint32) error {
	return d.change(
		func(fd int) error { return unix.Fchmod(fd, mode) },
		func(p Location) error { return unix.Fchmodat(p.Dir.FD, p.Name, mode, unix.AT_SYMLINK_NOFOLLOW) })
}

// Chown gives what was found an owner.
func (d *Handle) Chown(uid, gid uint32) error {
	return d.change(
		func(fd int) error { return unix.Fchown(fd, int(uid), int(gid)) },
		func(p Location) error {
			return unix.Fchownat(p.Dir.FD, p.Name, int(uid), int(gid), unix.AT_SYMLINK_NOFOLLOW)
		})
}

// change changes something through its descriptor. What cannot be opened, or does something
// when it is opened, is changed by its name.
func (d *Handle) change(opened func(fd int) error, named func(p Location) error) error {
	if d.at.Dir == nil {
		return opened(d.FD)
	}
	var now unix.Stat_t
	same := func() error {
		if now.Dev != d.Stat.Dev || now.Ino != d.Stat.Ino {
			return ErrMoved
		}
		return nil
	}
	if d.Stat.Mode&unix.S_IFMT == unix.S_IFREG {
		fd, err := d.at.Open(unix.O_RDONLY|unix.O_NONBLOCK, 0)
		if err == nil {
			defer unix.Close(fd)
			if err = unix.Fstat(fd, &now); err == nil {
				err = same()
			}
			if err == nil {
				err = opened(fd)
			}
		}
		if err != unix.EACCES {
			return err
		}
	}
	err := d.at.fstatat(&now)
	if err == nil {
		err = same()
	}
	if err == nil {
		err = named(d.at)
	}
	return err
}

// ProcPath is for systems where a path leads to what is open.
func (d *Handle) ProcPath() string { return "" }

// Lstat describes what stands at a path. A link at the end of the path is not followed.
// Nothing there is an Info of kind Missing.
func (r *Resolver) Lstat(name string) (Info, error) {
	if len(name) >= unix.PathMax {
		return Info{}, unix.ENAMETOOLONG
	}
	p, err := r.At(name)
	if err != nil {
		return Info{}, unlessMissing(err)
	}
	defer p.Close()
	return p.Stat()
}

// Stat is Lstat with links followed.
func (r *Resolver) Stat(name string) (Info, error) {
	if r.AnyLink {
		var st unix.Stat_t
		if err := IgnoringEINTR(func() error { return unix.Stat(name, &st) }); err != nil {
			return Info{}, unlessMissing(err)
		}
		return InfoOf(&st), nil
	}
	for range mostSwaps {
		t, err := r.Begin(name)
		if err != nil {
			return Info{}, err
		}
		p, err := t.To(name, true)
		if err != nil {
			return Info{}, unlessMissing(err)
		}
		info, err := r.StatAt(p)
		p.Close()
		if info.Kind != Symlink {
			return info, unlessMissing(err)
		}
	}
	return Info{}, unix.ELOOP
}

// IsDirectory reports whether a directory stands at a path, or a link to one.
func (r *Resolver) IsDirectory(name string) (bool, error) {
	info, err := r.Stat(name)
	return info.Kind == Directory, err
}

// Exists reports whether anything stands at a path. A link counts if what it leads to exists.
func (r *Resolver) Exists(name string) (bool, error) {
	info, err := r.Stat(name)
	return err == nil && info.Kind != Missing, err
}

// StatAt describes what is at a place to which links have led. Nothing there is an error.
func (r *Resolver) StatAt(p Location) (Info, error) {
	var st unix.Stat_t
	err := p.fstatat(&st)
	if err == nil {
		err = r.mayEnd(p, &st)
	}
	if err != nil {
		return Info{}, err
	}
	return InfoOf(&st), nil
}

// unlessMissing returns nil for an error that says that nothing stands at a path.
func unlessMissing(err error) error {
	if IsMissing(err) {
		return nil
	}
	return err
}

// quick opens what is at a path without a walk. Without openat2(2) that is never done where
// links are judged.
func (r *Resolver) quick(name string, flags int) (fd int, quick bool, err error) {
	if !r.AnyLink {
		return -1, false, nil
	}
	err = IgnoringEINTR(func() (err error) { fd, err = unix.Open(name, flags|unix.O_CLOEXEC, 0); return err })
	return fd, true, linkNotFollowed(err)
}

// quickDirectory is quick for a directory to go on from there.
func (r *Resolver) quickDirectory(name string) (fd int, quick bool, err error) {
	if !r.AnyLink {
		return -1, false, nil
	}
	fd, err = OpenDirectoryAt(unix.AT_FDCWD, name, 0)
	return fd, true, err
}

// isProc reports whether what is open lies on proc(5), as far as it matters: a link there
// cannot be held open.
func isProc(int) bool { return false }

// isTopOfProc reports whether d is the top of proc(5), which is not asked here.
func isTopOfProc(*Handle) bool { return false }

// SyncsFileSystems says that there is no [SyncFileSystem]: sync(2) does not wait everywhere.
const SyncsFileSystems = false

// SyncFileSystem is not there.
func SyncFileSystem(int) error { return errors.ErrUnsupported }

// MakesUnnamed reports that every file has a name from the start: a run that dies leaves it,
// and the next one removes it.
func MakesUnnamed() bool { return false }

// OpenUnnamed is not there.
func (p Location) OpenUnnamed(uint32) (int, error) { return -1, unix.EOPNOTSUPP }

// LinkUnnamed is not there.
func LinkUnnamed(int, Location) error { return unix.EOPNOTSUPP }

// SetMTime sets when an open file was changed last, in microseconds.
func SetMTime(fd int, at time.Time) error {
	tv := unix.NsecToTimeval(at.UnixNano())
	return unix.Futimes(fd, []unix.Timeval{tv, tv})
}

// MemoryFile returns a file that only this process can reach.
func MemoryFile(name string) (*os.File, error) {
	f, err := os.CreateTemp("", name)
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}
