//go:build !linux || portable

package safepath

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Without O_PATH only directories and readable files can be held open. Any other file is known by its name in an open
// directory and its inode, which is compared again before a change. Between the two, a user who may write to the
// directory can still replace the file by another one of his.
//
// The build tag portable selects this code on Linux, where the tests can run it.

// pathOnly is 0, because these systems have no O_PATH.
const pathOnly = 0

// HoldsLinks says that links themselves cannot be opened.
const HoldsLinks = false

// OpenDirectoryAt opens a directory as the start of a path. flags are added to those of open(2).
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

// OpenPath returns a file of any kind.
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

// readlink returns the target of a link.
func (d *Handle) readlink() (string, error) { return d.at.Readlink() }

// Chmod sets the mode of the file.
func (d *Handle) Chmod(mode uint32) error {
	return d.change(
		func(fd int) error { return unix.Fchmod(fd, mode) },
		func(p Location) error { return unix.Fchmodat(p.Dir.FD, p.Name, mode, unix.AT_SYMLINK_NOFOLLOW) })
}

// Chown sets the owner and group of the file.
func (d *Handle) Chown(uid, gid uint32) error {
	return d.change(
		func(fd int) error { return unix.Fchown(fd, int(uid), int(gid)) },
		func(p Location) error {
			return unix.Fchownat(p.Dir.FD, p.Name, int(uid), int(gid), unix.AT_SYMLINK_NOFOLLOW)
		})
}

// change changes a file through its descriptor, or by its name if the file cannot be opened or opening has side
// effects.
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

// ProcPath returns "": these systems have no path to an open file.
func (d *Handle) ProcPath() string { return "" }

// Lstat returns the Info of the file at a path. A link at its end is not followed. A missing file has the kind
// Missing, and is not an error.
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

// Stat is Lstat, but follows links.
func (r *Resolver) Stat(name string) (Info, error) {
	if r.AnyLink {
		var st unix.Stat_t
		if err := IgnoringEINTR(func() error { return unix.Stat(name, &st) }); err != nil {
			return Info{}, unlessMissing(err)
		}
		return InfoOf(&st), nil
	}
	for range mostSwaps {
		t, err := r.NewWalk(name)
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

// IsDirectory reports whether there is a directory at a path, or a link to one.
func (r *Resolver) IsDirectory(name string) (bool, error) {
	info, err := r.Stat(name)
	return info.Kind == Directory, err
}

// Exists reports whether there is a file at a path. A link exists if its target does.
func (r *Resolver) Exists(name string) (bool, error) {
	info, err := r.Stat(name)
	return err == nil && info.Kind != Missing, err
}

// StatAt returns the Info of a file to which links have led, and checks them. A missing file is an error.
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

// unlessMissing returns nil for an error that says that there is no file at a path.
func unlessMissing(err error) error {
	if IsMissing(err) {
		return nil
	}
	return err
}

// quick opens the file at a path in one step. Without openat2(2) that is possible only if links need no check.
func (r *Resolver) quick(name string, flags int) (fd int, quick bool, err error) {
	if !r.AnyLink {
		return -1, false, nil
	}
	err = IgnoringEINTR(func() (err error) { fd, err = unix.Open(name, flags|unix.O_CLOEXEC, 0); return err })
	return fd, true, linkNotFollowed(err)
}

// OpenBelow opens a file in several steps: done is always false.
func OpenBelow(int, string, int, uint32) (fd int, done bool, err error) { return -1, false, nil }

// quickDirectory is quick for a directory at the start of a path.
func (r *Resolver) quickDirectory(name string) (fd int, quick bool, err error) {
	if !r.AnyLink {
		return -1, false, nil
	}
	fd, err = OpenDirectoryAt(unix.AT_FDCWD, name, 0)
	return fd, true, err
}

// isProc returns false: it matters only for links that can be held open.
func isProc(int) bool { return false }

// isTopOfProc returns false: see isProc.
func isTopOfProc(*Handle) bool { return false }

// SyncsFileSystems is false, because sync(2) may return before the data is written.
const SyncsFileSystems = false

// SyncFileSystem is not supported.
func SyncFileSystem(int) error { return errors.ErrUnsupported }

// MakesUnnamed is false: a file has a name from the start. A run that dies leaves it, and the next one removes it.
func MakesUnnamed() bool { return false }

// OpenUnnamed is not supported.
func (p Location) OpenUnnamed(uint32) (int, error) { return -1, unix.EOPNOTSUPP }

// LinkUnnamed is not supported.
func LinkUnnamed(int, Location) error { return unix.EOPNOTSUPP }

// SetMTime sets the modification time of an open file, to the microsecond.
func SetMTime(fd int, at time.Time) error {
	tv := unix.NsecToTimeval(at.UnixNano())
	return unix.Futimes(fd, []unix.Timeval{tv, tv})
}

// MemoryFile returns a file without a name, which only this process can reach.
func MemoryFile(name string) (*os.File, error) {
	f, err := os.CreateTemp("", name)
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}
