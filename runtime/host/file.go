package host

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/safepath"
)

// What stands at a path, as package safepath describes it.
type (
	FileKind        = safepath.FileKind
	Info            = safepath.Info
	Attr            = safepath.Attr
	TreeEntry       = safepath.TreeEntry
	UnsafeLinkError = safepath.UnsafeLinkError
	HardLinkError   = safepath.HardLinkError
)

// The kinds of files.
const (
	Missing   = safepath.Missing
	Regular   = safepath.Regular
	Directory = safepath.Directory
	Symlink   = safepath.Symlink
	Special   = safepath.Special
)

// How many names of directories a call may read.
type (
	NameLimit         = safepath.NameLimit
	TooManyNamesError = safepath.TooManyNamesError
)

// MaxNames is the NameLimit of a call of a script.
const MaxNames = safepath.MaxNames

// Lstat describes what stands at the path. That nothing does is an Info of
// kind Missing; an error means that it cannot be told. In a plan, what is
// assumed counts, and only the Kind of it is known.
func (v *View) Lstat(name string) (Info, error) {
	if o := v.planned(); o != nil {
		return o.Lstat(name)
	}
	info, err := lstat(v, name)
	return info, safepath.PathError("lstat", name, err)
}

// lstat is Lstat for what stands there now.
func lstat(v *View, name string) (Info, error) {
	return v.files.Lstat(name)
}

// Stat is Lstat for what a link at the path leads to.
func (v *View) Stat(name string) (Info, error) {
	if o := v.planned(); o != nil {
		return o.Stat(name)
	}
	info, err := v.Lstat(name)
	if err != nil || info.Kind != Symlink {
		return info, err
	}
	info, err = v.files.Stat(name)
	return info, safepath.PathError("stat", name, err)
}

// Canonical returns the path of the directory at the path without links in it, as
// the machine sees it.
func (v *View) Canonical(dir string) (string, error) {
	if o := v.planned(); o != nil {
		return o.Canonical(dir)
	}
	d, err := v.files.Directory(dir)
	if err != nil {
		return "", safepath.PathError("open", dir, err)
	}
	defer d.Close()
	return d.Path, nil
}

// Exists reports whether anything stands at the path. A link counts if what it
// points to exists.
func (v *View) Exists(name string) (bool, error) {
	if o := v.planned(); o != nil {
		return o.Exists(name)
	}
	there, err := v.files.Exists(name)
	return there, safepath.PathError("stat", name, err)
}

// IsDirectory reports whether a directory stands at the path, or a link to one.
func (v *View) IsDirectory(name string) (bool, error) {
	if o := v.planned(); o != nil {
		return o.IsDirectory(name)
	}
	if v.lastDir != nil && *v.lastDir == name {
		return true, nil
	}
	is, err := v.files.IsDirectory(name)
	if is && v.lastDir != nil {
		*v.lastDir = name
	}
	return is, safepath.PathError("stat", name, err)
}

// Brief returns a view for looks that count as one moment: a directory that it has found is
// taken to stay. Many files that are missing in one directory ask for it once. It is for one
// goroutine.
func (v *View) Brief() *View {
	c := *v
	c.lastDir = new(string)
	return &c
}

// Readlink returns where the link at the path points.
func (v *View) Readlink(name string) (target string, err error) {
	if o := v.planned(); o != nil {
		return o.Readlink(name)
	}
	p, err := v.files.At(name)
	if err == nil {
		target, err = p.Readlink()
		p.Close()
	}
	return target, safepath.PathError("readlink", name, err)
}

// Open opens the file at the path for reading. It does not follow a link at
// the end and does not wait for a pipe.
func (v *View) Open(name string) (*os.File, error) {
	if o := v.planned(); o != nil {
		return o.Open(name, false)
	}
	return safepath.ToRead(name)(v.files.Open(name, unix.O_RDONLY|unix.O_NONBLOCK))
}

// largestFile is how many bytes of a file are held in memory at most.
const largestFile = 1 << 30

// ReadUpTo returns the content of the regular file at the path, links followed.
// A file that holds more than limit bytes is an error, and so is anything that
// is no file: it waits neither for a pipe nor for a file of the kernel.
func (v *View) ReadUpTo(name string, limit int64) ([]byte, error) {
	if o := v.planned(); o != nil {
		return o.ReadUpTo(name, limit)
	}
	return v.files.ReadRegular(name, limit)
}

// ReadText is ReadUpTo for a text.
func (v *View) ReadText(name string, limit int64) (string, error) {
	if o := v.planned(); o != nil {
		return o.ReadText(name, limit)
	}
	text, err := v.files.ReadRegular(name, limit)
	return string(text), err
}

// ReadFile is ReadUpTo for a file that is as large as memory allows.
func (v *View) ReadFile(name string) ([]byte, error) {
	if v.planned() != nil {
		return v.ReadUpTo(name, 1<<62)
	}
	return v.files.ReadRegular(name, largestFile)
}

// ReadDir returns the names in the directory at the path, sorted.
func (v *View) ReadDir(name string) ([]string, error) { return v.readDir(name, nil) }

func (v *View) readDir(name string, r *safepath.NameReader) ([]string, error) {
	if o := v.planned(); o != nil {
		return o.ReadDir(name, r)
	}
	f, err := safepath.OpenedFile(name)(v.files.Follow(name, unix.O_RDONLY|unix.O_DIRECTORY))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := r.Names(f)
	slices.Sort(names)
	return names, err
}

// Names is ReadDir for a directory that may be of any size. It ends with ctx, and gives a
// [TooManyNamesError] when there are more names than l allows.
func (v *View) Names(ctx context.Context, name string, l NameLimit) ([]string, error) {
	return v.readDir(name, &safepath.NameReader{Ctx: ctx, Limit: l})
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
		return o.LookAt(name, want)
	}
	if strings.HasPrefix(name, "/dev/") && !strings.HasPrefix(name, "/dev/shm/") {
		if info, err = v.Lstat(name); err != nil || info.Kind != Regular {
			return info, false, err
		}
	}
	fd, err := v.files.Open(name, unix.O_RDONLY|unix.O_NONBLOCK)
	switch {
	case safepath.IsMissing(err):
		return Info{}, false, nil
	case err != nil:
		cannotOpen := safepath.PathError("open", name, err)
		// A link or a socket.
		if info, err = v.Lstat(name); err == nil && info.Kind == Regular {
			err = cannotOpen
		}
		return info, false, err
	}
	var st unix.Stat_t
	err = safepath.IgnoringEINTR(func() error { return unix.Fstat(fd, &st) })
	if err != nil {
		err = &os.PathError{Op: "stat", Path: name, Err: err}
	} else if info = safepath.InfoOf(&st); info.Kind == Regular && info.Size == int64(len(want)) {
		same, err = reads(fd, name, want)
	}
	_ = unix.Close(fd)
	return info, same, err
}

// reads reports whether what is left to read from fd is exactly want.
func reads(fd int, name, want string) (bool, error) {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	for {
		var n int
		err := safepath.IgnoringEINTR(func() (err error) { n, err = syscall.Read(fd, *buf); return err })
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
