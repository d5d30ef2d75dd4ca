package host

import (
	"bytes"
	"io"
	"os"
	"syscall"
)

// HasHoles reports whether parts of the source are not on the disk because they are
// nothing but zeros (a sparse file). A copy of it has holes too.
func (s *Source) HasHoles() bool { return s.sparse }

// holey is what a reader implements whose content may have holes.
type holey interface{ HasHoles() bool }

// hasHoles reports whether a copy of what r holds is to have holes.
func hasHoles(r io.Reader) bool {
	h, ok := r.(holey)
	return ok && h.HasHoles()
}

// WithHoles returns r as a content of which a copy has holes where there are long
// runs of zeros.
func WithHoles(r io.ReadCloser) io.ReadCloser { return withHoles{r} }

type withHoles struct{ io.ReadCloser }

// HasHoles implements holey.
func (withHoles) HasHoles() bool { return true }

// isSparse reports whether a file takes less of the disk than it is long.
func isSparse(fi os.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && st.Blocks*512 < st.Size
}

var zeros [64 << 10]byte

// copySparse adds what r holds to f, which is written to at its end, and leaves
// holes where there are zeros.
func copySparse(f *os.File, r io.Reader) (n int64, err error) {
	begin, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	for err == nil {
		var k int
		k, err = io.ReadFull(r, *buf)
		part := (*buf)[:k]
		if k > 0 && !bytes.Equal(part, zeros[:k]) {
			if _, e := f.WriteAt(part, begin+n); e != nil {
				return n, e
			}
		}
		n += int64(k)
	}
	if !endOf(err) {
		return n, err
	}
	if err := f.Truncate(begin + n); err != nil {
		return n, err
	}
	_, err = f.Seek(begin+n, io.SeekStart)
	return n, err
}
