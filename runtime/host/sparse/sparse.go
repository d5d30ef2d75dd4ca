// Package sparse copies files with holes: parts of zeros that are not on disk.
package sparse

import (
	"bytes"
	"io"
	"os"
	"sync"
	"syscall"
)

// holeReporter is implemented by readers whose content may have holes.
type holeReporter interface{ HasHoles() bool }

// HasHoles reports whether a copy of r's content should have holes.
func HasHoles(r io.Reader) bool {
	h, ok := r.(holeReporter)
	return ok && h.HasHoles()
}

// WithHoles returns r as a content whose copy gets holes for long runs of zeros.
func WithHoles(r io.ReadCloser) io.ReadCloser { return holeContent{r} }

type holeContent struct{ io.ReadCloser }

// HasHoles implements holeReporter.
func (holeContent) HasHoles() bool { return true }

// IsSparse reports whether a file takes less room on disk than its size.
func IsSparse(fi os.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && st.Blocks*512 < st.Size
}

var zeros [64 << 10]byte

// blocks has the buffers of Copy. A new one for each small file would be mostly garbage.
var blocks = sync.Pool{New: func() any { return new([len(zeros)]byte) }}

// Copy appends the content of r to f, and leaves holes for zeros. The offset of f must be its
// end.
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
