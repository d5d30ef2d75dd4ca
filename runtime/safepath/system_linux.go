//go:build !portable

package safepath

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// pathOnly opens something, whatever it is, without access to what it holds.
const pathOnly = unix.O_PATH

// HoldsLinks says that a link can be held open: where it leads is read from the link that
// was looked at, not from one that was put in its place since.
const HoldsLinks = true

// OpenDirectoryAt opens a directory to go on from there, which takes no permission to read
// it. Flags are added to those of that.
func OpenDirectoryAt(dir int, name string, flags int) (fd int, err error) {
	err = IgnoringEINTR(func() (err error) {
		fd, err = unix.Openat(dir, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC|flags, 0)
		return err
	})
	return fd, err
}

// OpenPath opens what is at the place, whatever it is, without access to what it holds.
func (p Location) OpenPath() (*Handle, error) {
	fd, err := p.Open(unix.O_PATH, 0)
	if err != nil {
		return nil, err
	}
	return NewHandle(fd, p.Path())
}

// readlink returns where a link points that is open.
func (d *Handle) readlink() (string, error) { return readlinkat(d.FD, "") }

// procPath returns a path that leads to what is open, and nowhere else.
func procPath(fd int) string { return filepath.Join(procFDs, strconv.Itoa(fd)) }

// ProcPath returns a path that leads this process, and a child until it becomes another program,
// to what is open, "" if there is no /proc or d is nil.
func (d *Handle) ProcPath() string {
	if d == nil || !MakesUnnamed() {
		return ""
	}
	return procPath(d.FD)
}

// errNoChmod says why a mode is not set: by its path it could be that of something else by now.
var errNoChmod = errors.New("modes cannot be set safely without /proc before Linux 6.6")

// procFDs is the directory of what this process has open (proc(5)).
const procFDs = "/proc/self/fd"

// Chmod sets the permissions of what is open. Fchmodat2 can do that since Linux 6.6, and
// before that the way through proc(5) does.
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

// Chown gives what is open an owner.
func (d *Handle) Chown(uid, gid uint32) error {
	return unix.Fchownat(d.FD, "", int(uid), int(gid), unix.AT_EMPTY_PATH)
}

// Lstat describes what stands at a path. A link at the end of the path is not followed.
// Nothing there is an Info of kind Missing.
func (r *Resolver) Lstat(name string) (Info, error) {
	fd, err := r.Open(name, unix.O_PATH)
	return infoOfOpen(fd, err)
}

// Stat is Lstat with links followed.
func (r *Resolver) Stat(name string) (Info, error) {
	return infoOfOpen(r.Follow(name, unix.O_PATH))
}

// IsDirectory reports whether a directory stands at a path, or a link to one.
func (r *Resolver) IsDirectory(name string) (bool, error) { return r.opens(name, unix.O_DIRECTORY) }

// Exists reports whether anything stands at a path. A link counts if what it leads to exists.
func (r *Resolver) Exists(name string) (bool, error) { return r.opens(name, 0) }

// opens reports whether a path can be opened with flags, links followed. Nothing there, or
// something that the flags exclude, is no error.
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

// StatAt describes what is at a place to which links have led. Nothing there is an error.
func (r *Resolver) StatAt(p Location) (Info, error) {
	fd, err := r.OpenAt(p, unix.O_PATH)
	if err != nil {
		return Info{}, err
	}
	return infoOfOpen(fd, nil)
}

// infoOfOpen describes what was opened, and closes it. Nothing there is no error.
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

// quick opens what is at a path, if no link is on the way. Quick is false if the path
// has to be walked one name after the other instead.
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
			// EPERM may be about the file too: the walk says so then.
			if _, e := unix.Openat2(unix.AT_FDCWD, "/", &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC}); e == unix.ENOSYS || e == unix.EPERM {
				hasNoOpenat2.Store(true)
			}
			return -1, false, nil
		}
		return fd, true, err
	}
}

// quickDirectory is quick for a directory to go on from there.
func (r *Resolver) quickDirectory(name string) (fd int, quick bool, err error) {
	return r.quick(name, unix.O_PATH|unix.O_DIRECTORY)
}

// isProc reports whether what is open lies on proc(5).
func isProc(fd int) bool {
	var st unix.Statfs_t
	return unix.Fstatfs(fd, &st) == nil && int64(st.Type) == unix.PROC_SUPER_MAGIC
}

// procTop is the number of the inode at the top of every proc(5) (PROC_ROOT_INO in Linux).
const procTop = 1

// isTopOfProc reports whether d is the top of proc(5), where nobody but the kernel makes links.
// Further down are links to what a process has chosen, such as /proc/PID/cwd.
func isTopOfProc(d *Handle) bool { return d.Stat.Ino == procTop && isProc(d.FD) }

// SyncsFileSystems says that [SyncFileSystem] is there.
const SyncsFileSystems = true

// SyncFileSystem makes everything durable that was written to the file system of an open
// file. It reports what could not be written since Linux 5.8.
func SyncFileSystem(fd int) error { return unix.Syncfs(fd) }

// MakesUnnamed reports whether a file can be made without a name and be given one later,
// whatever the kernel lets this process do.
var MakesUnnamed = sync.OnceValue(func() bool { return unix.Access(procFDs, unix.F_OK) == nil })

// OpenUnnamed makes a file without a name in the file system of the place (O_TMPFILE): if
// ccm dies, it is gone. EOPNOTSUPP, EISDIR and EINVAL say that the file system cannot do that.
func (p Location) OpenUnnamed(mode uint32) (int, error) {
	return Location{Dir: p.Dir, Name: "."}.Open(unix.O_TMPFILE|unix.O_RDWR, mode)
}

// LinkUnnamed gives a file without a name one.
func LinkUnnamed(fd int, p Location) error {
	err := unix.Linkat(fd, "", p.Dir.FD, p.Name, unix.AT_EMPTY_PATH)
	if err == unix.ENOENT {
		// Before Linux 6.10 that needs a capability, and this does not.
		err = unix.Linkat(unix.AT_FDCWD, procPath(fd), p.Dir.FD, p.Name, unix.AT_SYMLINK_FOLLOW)
	}
	return err
}

// SetMTime sets when an open file was changed last.
func SetMTime(fd int, at time.Time) error {
	ts, err := unix.TimeToTimespec(at)
	if err != nil {
		return err
	}
	return unix.UtimesNanoAt(fd, "", []unix.Timespec{ts, ts}, unix.AT_EMPTY_PATH)
}

// MemoryFile returns a file that is nowhere but in memory.
func MemoryFile(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, &os.PathError{Op: "memfd_create", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}
