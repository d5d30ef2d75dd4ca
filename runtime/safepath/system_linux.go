//go:build !portable

package safepath

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/diag"
)

// pathOnly opens a file of any kind without access to its content.
const pathOnly = unix.O_PATH

// HoldsLinks says that a link itself can be opened, so that its target is read from the link that was checked, even
// if another one has replaced it.
const HoldsLinks = true

// OpenDirectoryAt opens a directory as the start of a path, without the right to list it. flags are added to those of
// open(2).
func OpenDirectoryAt(dir int, name string, flags int) (fd int, err error) {
	err = IgnoringEINTR(func() (err error) {
		fd, err = unix.Openat(dir, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC|flags, 0)
		return err
	})
	return fd, err
}

// OpenPath opens a file of any kind, also a link itself, without access to its content.
func (p Location) OpenPath() (*Handle, error) {
	fd, err := p.Open(unix.O_PATH, 0)
	if err != nil {
		return nil, err
	}
	return NewHandle(fd, p.Path())
}

// readlink returns the target of an open link.
func (d *Handle) readlink() (string, error) { return readlinkat(d.FD, "") }

// procPath returns the path in /proc of a descriptor.
func procPath(fd int) string { return filepath.Join(procFDs, strconv.Itoa(fd)) }

// ProcPath returns a path to the open file for this process, and for a child before it calls exec. It is "" without
// /proc or for a nil d.
func (d *Handle) ProcPath() string {
	if d == nil || !MakesUnnamed() {
		return ""
	}
	return procPath(d.FD)
}

// errNoChmod is returned instead of setting a mode by path, where another file could be by now.
var errNoChmod = diag.SubjectCannot("modes", "be set safely without /proc before Linux 6.6")

// procFDs is the directory of this process's descriptors (proc(5)).
const procFDs = "/proc/self/fd"

// Chmod sets the mode of the open file: with fchmodat2 since Linux 6.6, through /proc before.
func (d *Handle) Chmod(mode uint32) error {
	err := unix.Chmod(procPath(d.FD), mode)
	if err == unix.ENOENT || err == unix.ENOTDIR { // there is no /proc
		err = unix.Fchmodat(d.FD, "", mode, unix.AT_EMPTY_PATH)
		if err == unix.EOPNOTSUPP || err == unix.ENOSYS {
			return &os.PathError{Op: "chmod", Path: d.Path, Err: errNoChmod}
		}
	}
	return err
}

// Chown sets the owner and group of the open file.
func (d *Handle) Chown(uid, gid uint32) error {
	return unix.Fchownat(d.FD, "", int(uid), int(gid), unix.AT_EMPTY_PATH)
}

// Lstat returns the Info of the file at a path. A link at its end is not followed. A missing file has the kind
// Missing, and is not an error.
func (r *Resolver) Lstat(name string) (Info, error) {
	fd, err := r.Open(name, unix.O_PATH)
	return infoOfOpen(fd, err)
}

// Stat is Lstat, but follows links.
func (r *Resolver) Stat(name string) (Info, error) {
	return infoOfOpen(r.Follow(name, unix.O_PATH))
}

// IsDirectory reports whether there is a directory at a path, or a link to one.
func (r *Resolver) IsDirectory(name string) (bool, error) { return r.opens(name, unix.O_DIRECTORY) }

// Exists reports whether there is a file at a path. A link exists if its target does.
func (r *Resolver) Exists(name string) (bool, error) { return r.opens(name, 0) }

// opens reports whether a path can be opened with flags, following links. A missing file, or one that the flags
// exclude, is not an error.
func (r *Resolver) opens(name string, flags int) (bool, error) {
	fd, err := r.Follow(name, unix.O_PATH|flags)
	if err == nil {
		return true, unix.Close(fd)
	}
	if IsMissing(err) {
		err = nil
	}
	return false, err
}

// StatAt returns the Info of a file to which links have led, and checks them. A missing file is an error.
func (r *Resolver) StatAt(p Location) (Info, error) {
	fd, err := r.OpenAt(p, unix.O_PATH)
	if err != nil {
		return Info{}, err
	}
	return infoOfOpen(fd, nil)
}

// infoOfOpen returns the Info of a descriptor, and closes it. A missing file is not an error.
func infoOfOpen(fd int, err error) (Info, error) {
	if err != nil {
		if IsMissing(err) {
			err = nil
		}
		return Info{}, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := IgnoringEINTR(func() error { return unix.Fstat(fd, &st) }); err != nil {
		return Info{}, err
	}
	return InfoOf(&st), nil
}

// hasNoOpenat2 is set once the kernel has refused openat2.
var hasNoOpenat2 atomic.Bool

// quick opens the file at a path without links. quick is false if the path has to be walked instead.
func (r *Resolver) quick(name string, flags int) (fd int, quick bool, err error) {
	if r.AnyLink {
		err = IgnoringEINTR(func() (err error) { fd, err = unix.Open(name, flags|unix.O_CLOEXEC, 0); return err })
		return fd, true, err
	}
	if r.Stepwise || hasNoOpenat2.Load() || strings.Contains(name, "..") || name == "" {
		return -1, false, nil
	}
	if r.Root != "/" {
		name = r.Root + "/" + name
	}
	how := unix.OpenHow{Flags: uint64(flags | unix.O_CLOEXEC), Resolve: unix.RESOLVE_NO_SYMLINKS}
	for {
		switch fd, err = unix.Openat2(unix.AT_FDCWD, name, &how); err {
		case unix.EINTR:
			continue
		case unix.ELOOP, unix.EAGAIN:
			return -1, false, nil
		case unix.ENOSYS, unix.EPERM:
			// EPERM may come from the file too; then the walk returns it.
			if _, e := unix.Openat2(unix.AT_FDCWD, "/", &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC}); e == unix.ENOSYS || e == unix.EPERM {
				hasNoOpenat2.Store(true)
			}
			return -1, false, nil
		}
		return fd, true, err
	}
}

// OpenBelow opens the file with a name of several parts in an open directory, in one step and without following a link.
// mode is for O_CREAT. done is false if it has to be opened part by part instead.
func OpenBelow(dir int, name string, flags int, mode uint32) (fd int, done bool, err error) {
	if hasNoOpenat2.Load() {
		return -1, false, nil
	}
	how := unix.OpenHow{Flags: uint64(flags | unix.O_CLOEXEC), Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_BENEATH}
	if flags&unix.O_CREAT != 0 {
		how.Mode = uint64(mode)
	}
	err = IgnoringEINTR(func() (err error) { fd, err = unix.Openat2(dir, name, &how); return err })
	switch err {
	case nil, unix.ENOENT:
		return fd, true, err
	}
	return -1, false, nil // the next attempt says what is wrong
}

// quickDirectory is quick for a directory at the start of a path.
func (r *Resolver) quickDirectory(name string) (fd int, quick bool, err error) {
	return r.quick(name, unix.O_PATH|unix.O_DIRECTORY)
}

// isProc reports whether a descriptor is in proc(5).
func isProc(fd int) bool {
	var st unix.Statfs_t
	return unix.Fstatfs(fd, &st) == nil && int64(st.Type) == unix.PROC_SUPER_MAGIC
}

// procTop is the inode number of the root of proc(5) (PROC_ROOT_INO in Linux).
const procTop = 1

// isTopOfProc reports whether d is the root of proc(5), where only the kernel makes links. Links further down, such
// as /proc/PID/cwd, have targets that a process has chosen.
func isTopOfProc(d *Handle) bool { return d.Stat.Ino == procTop && isProc(d.FD) }

// SyncsFileSystems says that [SyncFileSystem] works.
const SyncsFileSystems = true

// SyncFileSystem makes all written data of an open file's file system durable. Since Linux 5.8 it returns write
// errors.
func SyncFileSystem(fd int) error { return unix.Syncfs(fd) }

// MakesUnnamed reports whether a file can be created without a name and linked later, with any privileges.
var MakesUnnamed = sync.OnceValue(func() bool { return unix.Access(procFDs, unix.F_OK) == nil })

// OpenUnnamed creates a file without a name (O_TMPFILE) in the directory of p; it disappears if ccm dies. EOPNOTSUPP,
// EISDIR and EINVAL mean that the file system does not support it.
func (p Location) OpenUnnamed(mode uint32) (int, error) {
	return Location{Dir: p.Dir, Name: "."}.Open(unix.O_TMPFILE|unix.O_RDWR, mode)
}

// LinkUnnamed gives a file without a name the name p.
func LinkUnnamed(fd int, p Location) error {
	err := unix.Linkat(fd, "", p.Dir.FD, p.Name, unix.AT_EMPTY_PATH)
	if err == unix.ENOENT {
		// Before Linux 6.10 AT_EMPTY_PATH needs a capability; this does not.
		err = unix.Linkat(unix.AT_FDCWD, procPath(fd), p.Dir.FD, p.Name, unix.AT_SYMLINK_FOLLOW)
	}
	return err
}

// SetMTime sets the modification time of an open file.
func SetMTime(fd int, at time.Time) error {
	ts, err := unix.TimeToTimespec(at)
	if err != nil {
		return err
	}
	return unix.UtimesNanoAt(fd, "", []unix.Timespec{ts, ts}, unix.AT_EMPTY_PATH)
}

// MemoryFile returns a file that exists only in memory.
func MemoryFile(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, &os.PathError{Op: "memfd_create", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}
