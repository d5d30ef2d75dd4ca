package host

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A FileKind is what stands at a path.
type FileKind uint8

const (
	Missing FileKind = iota
	Regular
	Directory
	Symlink
	Special // a device, a pipe, a socket
)

// String returns the name of k with its article, for messages.
func (k FileKind) String() string {
	return [...]string{"nothing", "a file", "a directory", "a symbolic link", "a special file"}[k]
}

// An Info describes what stands at a path, without following a link.
type Info struct {
	Kind     FileKind
	Mode     uint32 // permission bits, with setuid, setgid and sticky
	UID, GID uint32
	Size     int64
	MTime    time.Time
	Dev, Ino uint64
	Links    uint64 // how many names it has
}

// Lstat describes what stands at the path. That nothing does is an Info of
// kind Missing; an error means that it cannot be told. In a plan, what is
// assumed counts, and only the Kind of it is known.
func (v *View) Lstat(name string) (Info, error) {
	if o := v.planned(); o != nil {
		return o.lstat(v, name)
	}
	path, err := v.real(name)
	if err != nil {
		return Info{}, err
	}
	var st syscall.Stat_t
	err = ignoringEINTR(func() error { return syscall.Lstat(path, &st) })
	missing := errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR)
	switch {
	case missing:
		return Info{}, nil
	case err != nil:
		return Info{}, &os.PathError{Op: "lstat", Path: name, Err: err}
	}
	return infoOf(&st), nil
}

// Canonical returns the path of the directory at the path without links in it, as
// the machine sees it.
func (v *View) Canonical(dir string) (string, error) {
	if o := v.planned(); o != nil {
		return o.canonical(dir)
	}
	if v.root == "/" {
		return filepath.EvalSymlinks(dir)
	}
	path, err := v.resolve(dir)
	if err != nil {
		return "", err
	}
	return filepath.Join("/", mustRel(v.root, path)), nil
}

// Exists reports whether anything stands at the path. A link counts if what it
// points to exists.
func (v *View) Exists(name string) (bool, error) {
	if o := v.planned(); o != nil {
		return o.exists(v, name)
	}
	info, err := v.Lstat(name)
	if err != nil || info.Kind != Symlink {
		return info.Kind != Missing, err
	}
	path, err := v.real(name)
	if err != nil {
		return false, err
	}
	if v.root != "/" {
		if path, err = v.resolve(name); err != nil {
			return false, err
		}
	}
	_, err = os.Stat(path)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return false, nil
	}
	return err == nil, err
}

// IsDirectory reports whether a directory stands at the path, or a link to one.
func (v *View) IsDirectory(name string) (bool, error) {
	if o := v.planned(); o != nil {
		return o.isDirectory(v, name)
	}
	if v.root == "/" && v.row.holds(name) {
		return true, nil
	}
	info, err := v.Lstat(name)
	if err != nil || info.Kind != Symlink {
		return info.Kind == Directory, err
	}
	path, err := v.resolve(name)
	if err != nil {
		return false, err
	}
	fi, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return false, nil
	}
	return err == nil && fi.IsDir(), err
}

// Readlink returns where the link at the path points.
func (v *View) Readlink(name string) (string, error) {
	if o := v.planned(); o != nil {
		return o.readlink(v, name)
	}
	path, err := v.real(name)
	if err != nil {
		return "", err
	}
	return os.Readlink(path)
}

// Open opens the file at the path for reading. It does not follow a link at
// the end and does not wait for a pipe.
func (v *View) Open(name string) (*os.File, error) {
	if o := v.planned(); o != nil {
		return o.open(v, name, false)
	}
	path, err := v.real(name)
	if err != nil {
		return nil, err
	}
	return openToRead(path, syscall.O_NOFOLLOW)
}

// largestFile is how many bytes of a file are held in memory at most.
const largestFile = 1 << 30

// ReadFile is ReadUpTo for a file that is as large as memory allows.
func (v *View) ReadFile(name string) ([]byte, error) {
	if v.planned() != nil {
		return v.ReadUpTo(name, 1<<62)
	}
	path, err := v.resolve(name)
	if err != nil {
		return nil, err
	}
	return readRegular(path, largestFile)
}

// ReadDir returns the names in the directory at the path, sorted.
func (v *View) ReadDir(name string) ([]string, error) {
	if o := v.planned(); o != nil {
		return o.readDir(v, name)
	}
	path, err := v.resolve(name)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(path)
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, err
}

// LookAt describes what stands at the path, as Lstat does, and reports whether it
// is a file that holds exactly want. It reads no more than is needed to tell. Of
// what a plan assumes, it is not known.
//
// It is what a run that finds nothing to do spends its time on. So it walks to the
// path once, for opening it, and does without os.File, which costs as much again
// as the system calls. Devices are not opened to be looked at, which does
// something to some of them.
func (v *View) LookAt(name, want string) (info Info, same bool, err error) {
	if o := v.planned(); o != nil {
		return o.lookAt(v, name, want)
	}
	if strings.HasPrefix(name, "/dev/") && !strings.HasPrefix(name, "/dev/shm/") {
		if info, err = v.Lstat(name); err != nil || info.Kind != Regular {
			return info, false, err
		}
	}
	path, err := v.real(name)
	if err != nil {
		return Info{}, false, err
	}
	var fd int
	err = ignoringEINTR(func() (err error) {
		fd, err = v.row.open(path, syscall.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC)
		return err
	})
	switch {
	case err == syscall.ENOENT || err == syscall.ENOTDIR:
		return Info{}, false, nil
	case err != nil:
		cannotOpen := &os.PathError{Op: "open", Path: name, Err: err}
		// A link or a socket.
		if info, err = v.Lstat(name); err == nil && info.Kind == Regular {
			err = cannotOpen
		}
		return info, false, err
	}
	var st syscall.Stat_t
	err = ignoringEINTR(func() error { return syscall.Fstat(fd, &st) })
	if err != nil {
		err = &os.PathError{Op: "stat", Path: name, Err: err}
	} else if info = infoOf(&st); info.Kind == Regular && info.Size == int64(len(want)) {
		same, err = reads(fd, name, want)
	}
	_ = syscall.Close(fd)
	return info, same, err
}

// reads reports whether what is left to read from fd is exactly want.
func reads(fd int, name, want string) (bool, error) {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	for {
		var n int
		err := ignoringEINTR(func() (err error) { n, err = syscall.Read(fd, *buf); return err })
		switch {
		case err != nil:
			return false, &os.PathError{Op: "read", Path: name, Err: err}
		case n > len(want) || string((*buf)[:n]) != want[:n]:
			return false, nil
		}
		// Of a file, less than was asked for comes only at its end (read(2)).
		if want = want[n:]; n < len(*buf) {
			return len(want) == 0, nil
		}
	}
}

var buffers = sync.Pool{New: func() any { b := make([]byte, 64<<10); return &b }}

// resolve returns where the named path is for the operating system, with links
// followed inside the root, the last one too.
func (m *machine) resolve(name string) (string, error) {
	if m.root == "/" {
		return name, nil
	}
	return secureJoin(m.root, name)
}

func infoOf(st *syscall.Stat_t) Info {
	i := Info{
		Mode: st.Mode & 0o7777, UID: st.Uid, GID: st.Gid, Size: st.Size,
		MTime: time.Unix(st.Mtim.Unix()), Dev: uint64(st.Dev), Ino: st.Ino, Links: uint64(st.Nlink),
	}
	switch st.Mode & syscall.S_IFMT {
	case syscall.S_IFREG:
		i.Kind = Regular
	case syscall.S_IFDIR:
		i.Kind = Directory
	case syscall.S_IFLNK:
		i.Kind = Symlink
	default:
		i.Kind = Special
	}
	return i
}

func ignoringEINTR(f func() error) error {
	for {
		if err := f(); err != syscall.EINTR {
			return err
		}
	}
}

// Glob returns the paths that match pattern (path/filepath), sorted.
func (v *View) Glob(pattern string) ([]string, error) {
	if o := v.planned(); o != nil {
		return o.glob(v, pattern)
	}
	if v.root == "/" {
		return filepath.Glob(pattern)
	}
	found, err := filepath.Glob(filepath.Join(v.root, pattern))
	for i, p := range found {
		found[i] = "/" + mustRel(v.root, p)
	}
	return found, err
}

func mustRel(base, path string) string {
	rel, err := filepath.Rel(base, path)
	if err != nil {
		return path
	}
	return rel
}
