package host

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/host/sources"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/sha256sum"
)

// A TreePair is the two entries with one relative path: below a source directory, and below a
// directory of the machine. A missing entry has the kind Missing.
type TreePair struct {
	Rel            string // path relative to both directories
	Source, Target safepath.Info
	// Differs is set if both are regular files with different contents.
	Differs bool
}

// CompareTree calls each for every path below the source directory or the directory name of the
// machine, in order. The latter may be missing. First, matters is asked about each entry below
// source; an entry that does not matter counts as missing. Files are compared byte by byte.
// CompareTree stops at the first error, also of matters, and when ctx ends. In a plan it sees
// assumed effects. It reads at most [MaxNames] names of either directory.
func (s Sources) CompareTree(ctx context.Context, source, name string, matters func(safepath.TreeEntry) (bool, error), each func(TreePair) error) error {
	v := s.v
	from, err := s.Tree(ctx, source, safepath.MaxNames)
	if err != nil {
		return err
	}
	top, err := v.Lstat(name)
	if err != nil {
		return err
	}
	var to []safepath.TreeEntry
	if top.Kind != safepath.Missing {
		if to, err = v.Tree(ctx, name, safepath.MaxNames); err != nil {
			return err
		}
	}
	wanted := from[:0]
	for _, e := range from {
		ok, err := matters(e)
		if err != nil {
			return err
		}
		if ok {
			wanted = append(wanted, e)
		}
	}
	from = wanted
	files := comparer{View: unnoticed(v)}
	defer files.close()
	for len(from) > 0 || len(to) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		var p TreePair
		switch {
		case len(to) == 0 || len(from) > 0 && from[0].Rel < to[0].Rel:
			p.Rel, p.Source, from = from[0].Rel, from[0].Info, from[1:]
		case len(from) == 0 || to[0].Rel < from[0].Rel:
			p.Rel, p.Target, to = to[0].Rel, to[0].Info, to[1:]
		default:
			p.Rel, p.Source, p.Target, from, to = from[0].Rel, from[0].Info, to[0].Info, from[1:], to[1:]
		}
		if p.Source.Kind == safepath.Regular && p.Target.Kind == safepath.Regular {
			if p.Differs, err = files.differ(ctx, filepath.Join(source, p.Rel), filepath.Join(name, p.Rel), p); err != nil {
				v.overlay.Looks().NoteError(err) // the unnoticed view did not record it
				return err
			}
		}
		if err := each(p); err != nil {
			return err
		}
	}
	return nil
}

// unnoticed returns a view that does not record looks. It is for the files of a tree whose look
// as a whole is recorded.
func unnoticed(v *View) *View {
	if v.overlay.Looks() == nil {
		return v
	}
	return &View{machine: v.machine, overlay: v.overlay.Recording(nil)}
}

// A comparer compares files of two directories.
type comparer struct {
	*View
	fromDirs, toDirs safepath.DirectoryCache // of the user and of the machine
}

func (v *comparer) close() {
	v.fromDirs.Close()
	v.toDirs.Close()
}

// differ reports whether a file of the user and a file of the machine have different contents.
func (v *comparer) differ(ctx context.Context, source, name string, p TreePair) (bool, error) {
	// Sizes say nothing in a plan, which may assume them, and for pseudo files of the kernel (size
	// 0).
	if v.overlay == nil && p.Source.Size != p.Target.Size && p.Source.Size > 0 && p.Target.Size > 0 {
		return true, nil
	}
	if v.overlay == nil && p.Source.Size > 0 && p.Source.Size == p.Target.Size && p.Source.Size <= smallFile {
		if same, ok := v.sameSmall(source, name, &p.Source); ok {
			return !same, nil
		}
	}
	a, err := v.Sources().OpenFile(source)
	if err != nil {
		return false, err
	}
	defer a.Close()
	b, err := v.Open(name)
	if err != nil {
		return false, err
	}
	defer b.Close()
	same, err := sameContent(safepath.Within(ctx, a), b)
	if err != nil {
		err = fmt.Errorf("%s and %s: %w", source, name, err)
	}
	return !same, err
}

// smallFile is the largest size, in bytes, of files that sameSmall compares.
const smallFile = 32 << 10

// sameSmall reports whether a file of the user and one of the machine, of the same size, have the
// same content. It needs fewer system calls than sameContent. Ok is false if a file changed, is a
// pseudo file, or could not be read. A source whose digest is known, because it was just copied,
// is not read again.
func (v *comparer) sameSmall(source, name string, info *safepath.Info) (same, ok bool) {
	buf := pairs.Get().(*[2][smallFile]byte)
	defer pairs.Put(buf)
	size := info.Size
	if !readWhole(&v.toDirs, v.files, name, buf[1][:size]) {
		return false, false
	}
	if sum, reliable := v.sums.Of(source, sources.StatDataOfInfo(info, v.Now())); reliable {
		return sha256sum.Bytes(buf[1][:size]) == sum, true
	}
	if !readWhole(&v.fromDirs, v.sources, source, buf[0][:size]) {
		return false, false
	}
	return bytes.Equal(buf[0][:size], buf[1][:size]), true
}

// readWhole reads a file of exactly the length of the buffer.
func readWhole(dirs *safepath.DirectoryCache, w *safepath.Resolver, name string, buf []byte) bool {
	dir, base := safepath.Split(name)
	d, err := dirs.Open(w, dir)
	if err != nil {
		return false
	}
	defer d.Close()
	fd, err := w.OpenAt(safepath.Location{Dir: d, Name: base}, unix.O_RDONLY|unix.O_NONBLOCK)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	err = safepath.IgnoringEINTR(func() error { return unix.Fstat(fd, &st) })
	if err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Size != int64(len(buf)) || st.Blocks == 0 {
		return false
	}
	for len(buf) > 0 {
		var n int
		err := safepath.IgnoringEINTR(func() (err error) { n, err = unix.Read(fd, buf); return err })
		if err != nil || n == 0 {
			return false
		}
		buf = buf[n:]
	}
	return true
}

// pairs has buffers for comparing two files.
var pairs = sync.Pool{New: func() any { return new([2][smallFile]byte) }}

// sameContent reports whether two readers have the same content.
func sameContent(a io.Reader, b io.Reader) (bool, error) {
	buf := pairs.Get().(*[2][32 << 10]byte)
	defer pairs.Put(buf)
	for {
		n, err := io.ReadFull(a, buf[0][:])
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return false, err
		}
		m, errB := io.ReadFull(b, buf[1][:])
		if errB != nil && errB != io.EOF && errB != io.ErrUnexpectedEOF {
			return false, errB
		}
		if !bytes.Equal(buf[0][:n], buf[1][:m]) {
			return false, nil
		}
		if err != nil || errB != nil {
			return err != nil && errB != nil, nil
		}
	}
}
