// Package sparse copies files with holes: parts that are not on the disk because they are
// nothing but zeros.
package sparse

import (
	"bytes"
	"io"
	"os"
	"sync"
	"syscall"
)

// holey is what a reader implements whose content may have holes.
type holeReporter interface{ HasHoles() bool }

// HasHoles reports whether a copy of what r holds is to have holes.
func HasHoles(r io.Reader) bool {
	h, ok := r.(holeReporter)
	return ok && h.HasHoles()
}

// WithHoles returns r as a content of which a copy has holes where there are long
// runs of zeros.
func WithHoles(r io.ReadCloser) io.ReadCloser { return holeContent{r} }

type holeContent struct{ io.ReadCloser }

// HasHoles implements holey.
func (holeContent) HasHoles() bool { return true }

// IsSparse reports whether a file takes less of the disk than it is long.
func IsSparse(fi os.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && st.Blocks*512 < st.Size
}

var zeros [64 << 10]byte

// blocks are what Copy reads into. One for each of many small files would be mostly garbage.
var blocks = sync.Pool{New: func() any { return new([len(zeros)]byte) }}

// Copy adds what r holds to f, which is written to at its end, and leaves
// holes where there are zeros.
func Copy(f *os.File, r io.Reader) (n int64, err error) {
	begin, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	block := blocks.Get().(*[len(zeros)]byte)
	defer blocks.Put(block)
	buf := block[:]
	for err == nil {
		var k int
		k, err = io.ReadFull(r, buf)
		part := buf[:k]
		if k > 0 && !bytes.Equal(part, zeros[:k]) {
			if _, e := f.WriteAt(part, begin+n); e != nil {
				return n, e
			}
		}
		n += int64(k)
	}
	if err != io.EOF && err != io.ErrUnexpectedEOF {
		return n, err
	}
	if err := f.Truncate(begin + n); err != nil {
		return n, err
	}
	_, err = f.Seek(begin+n, io.SeekStart)
	return n, err
}
