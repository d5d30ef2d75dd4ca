package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/safepath"
)

// Lstat describes the entry at the path. A missing path has the kind Missing; an error means that
// the kind cannot be determined. In a plan it sees assumed entries, of which only the Kind is known.
func (v *View) Lstat(name string) (safepath.Info, error) {
	if o := v.planned(); o != nil {
		return o.Lstat(name)
	}
	info, err := lstat(v, name)
	return info, safepath.PathError("lstat", name, err)
}

// lstat is Lstat without assumed effects.
func lstat(v *View, name string) (safepath.Info, error) {
	return v.files.Lstat(name)
}

// LstatToRemove is [View.Lstat] for something that must not be there. In a plan, a file that an earlier resource is
// known to bring counts, whatever it is.
func (v *View) LstatToRemove(name string) (safepath.Info, error) {
	if o := v.planned(); o != nil {
		return o.LstatToRemove(name)
	}
	return v.Lstat(name)
}

// Stat is Lstat for the target of a link at the path.
func (v *View) Stat(name string) (safepath.Info, error) {
	if o := v.planned(); o != nil {
		return o.Stat(name)
	}
	info, err := v.Lstat(name)
	if err != nil || info.Kind != safepath.Symlink {
		return info, err
	}
	info, err = v.files.Stat(name)
	return info, safepath.PathError("stat", name, err)
}

// Canonical returns the path of a directory without links in it, as the machine sees it.
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

// Exists reports whether the path exists. A link counts if its target exists.
func (v *View) Exists(name string) (bool, error) {
	if o := v.planned(); o != nil {
		return o.Exists(name)
	}
	there, err := v.files.Exists(name)
	return there, safepath.PathError("stat", name, err)
}

// IsDirectory reports whether the path is a directory or a link to one.
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

// Brief returns a view for a moment in which directories are taken to stay. It remembers the last
// directory found, so that many files missing in one directory ask for it once. It is for one
// goroutine.
func (v *View) Brief() *View {
	c := *v
	c.lastDir = new(string)
	return &c
}

// LinkEnd returns the path to which the symbolic link at a path leads, by the rule for unsafe
// links. A link that leads nowhere is an error.
func LinkEnd(v *View, name string) (string, error) {
	if o := v.planned(); o != nil {
		return overlay.LinkEnd(o, name)
	}
	p, _, err := savedAt(v.files, name)
	if safepath.IsMissing(err) {
		return "", overlay.LeadsNowhere(name)
	}
	if err != nil {
		return "", safepath.PathError("open", name, err)
	}
	defer p.Close()
	return p.Path(), nil
}

// FollowLink returns the path to which the symbolic link at a path leads, by the rule for unsafe
// links. If nothing is there, the path can be made, as an editor would: a link that may lead only to
// files of its owner is an error then.
func FollowLink(v *View, name string) (string, error) {
	end, nowhere := LinkEnd(v, name)
	if !errors.Is(nowhere, os.ErrNotExist) {
		return end, nowhere
	}
	walk, err := v.files.NewWalk(name)
	if err != nil {
		return "", safepath.PathError("open", name, err)
	}
	p, err := walk.ToNew(name)
	if err == nil {
		defer p.Close()
	}
	o := v.planned()
	switch {
	case err != nil && !safepath.IsMissing(err):
		return "", safepath.PathError("open", name, err)
	case o != nil: // where a link or directory may be going to be made
		return overlay.NewLinkEnd(o, name)
	case err != nil:
		return "", fmt.Errorf("%w (the directory of its target does not exist)", nowhere)
	}
	return p.Path(), nil
}

// Readlink returns the target of the link at the path.
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

// Open opens the file at the path for reading. It does not follow a link at the path and does not
// wait for a pipe.
func (v *View) Open(name string) (*os.File, error) {
	if o := v.planned(); o != nil {
		return o.Open(name, false)
	}
	return safepath.ToRead(name)(v.files.Open(name, unix.O_RDONLY|unix.O_NONBLOCK))
}

// largestFile is the largest size, in bytes, of a file read into memory.
const largestFile = 1 << 30

// ReadUpTo returns the content of the regular file at the path. It follows links. A file larger
// than limit bytes is an error, and so is anything else than a file: it waits neither for a pipe
// nor for a pseudo file of the kernel.
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
	return v.files.ReadText(name, limit)
}

// ReadFile is ReadUpTo with the limit largestFile.
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
	// fs.Glob ignores errors and goes on with the next directory.
	if err := r.Look(); err != nil {
		return nil, err
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

// Names is ReadDir for a directory of any size. It ends with ctx, and returns a
// [TooManyNamesError] if there are more names than l allows.
func (v *View) Names(ctx context.Context, name string, l safepath.NameLimit) ([]string, error) {
	return v.readDir(name, &safepath.NameReader{Ctx: ctx, Limit: l})
}

// LookAt describes the entry at the path, as Lstat does, and reports whether it is a file with
// exactly the content want. It reads no more than it needs. For an assumed file the content may
// be unknown.
//
// A run that finds nothing to do spends most of its time here. So LookAt resolves the path once,
// and does not use os.File, which costs as much again as the system calls. It does not open
// devices, because that has an effect on some of them.
func (v *View) LookAt(name, want string) (info safepath.Info, same bool, err error) {
	if o := v.planned(); o != nil {
		return o.LookAt(name, want)
	}
	if strings.HasPrefix(name, "/dev/") && !strings.HasPrefix(name, "/dev/shm/") {
		if info, err = v.Lstat(name); err != nil || info.Kind != safepath.Regular {
			return info, false, err
		}
	}
	fd, err := v.files.Open(name, unix.O_RDONLY|unix.O_NONBLOCK)
	switch {
	case safepath.IsMissing(err):
		return safepath.Info{}, false, nil
	case err != nil:
		cannotOpen := safepath.PathError("open", name, err)
		// a link or a socket
		if info, err = v.Lstat(name); err == nil && info.Kind == safepath.Regular {
			err = cannotOpen
		}
		return info, false, err
	}
	var st unix.Stat_t
	err = safepath.IgnoringEINTR(func() error { return unix.Fstat(fd, &st) })
	if err != nil {
		err = &os.PathError{Op: "stat", Path: name, Err: err}
	} else if info = safepath.InfoOf(&st); info.Kind == safepath.Regular && info.Size == int64(len(want)) {
		same, err = reads(fd, name, want)
	}
	_ = unix.Close(fd)
	return info, same, err
}

// reads reports whether the rest of fd is exactly want.
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
		// A file returns less than asked for only at its end (read(2)).
		if want = want[n:]; n < len(*buf) {
			return len(want) == 0, nil
		}
	}
}

var buffers = sync.Pool{New: func() any { b := make([]byte, 64<<10); return &b }}
