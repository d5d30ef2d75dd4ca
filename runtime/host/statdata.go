package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/luaccm/ccm/runtime/sha256sum"
)

// A StatData is the size, times and inode of a source, which change with its content (as
// the stat data in the index of git).
type StatData struct {
	Size int64 // in bytes
	// MTime and CTime are the times of the last change of its content and of its inode, in
	// nanoseconds since 1970. All three are 0 if it is no file.
	MTime, CTime int64
	Inode        uint64
	// Reliable says that every later change of the source changes its stat data: the last
	// change was longer ago than the resolution of its times.
	Reliable bool
}

// timeStep is the coarsest resolution of the times of files: two seconds on FAT.
const timeStep = 2 * time.Second

// statDataOf returns the stat data of a file.
func statDataOf(fi os.FileInfo, now time.Time) StatData {
	g := StatData{Size: fi.Size()}
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		g.MTime, g.CTime, g.Inode = st.Mtim.Nano(), st.Ctim.Nano(), st.Ino
		g.Reliable = now.Sub(time.Unix(st.Ctim.Unix())) > timeStep
	}
	return g
}

// Stamp returns a text that changes with every later change of the source; "" if the stat
// data are not reliable.
func (g StatData) Stamp() string {
	if !g.Reliable || g.Inode == 0 {
		return ""
	}
	b := strconv.AppendInt(nil, g.MTime, 10)
	b = strconv.AppendInt(append(b, '-'), g.CTime, 10)
	return string(strconv.AppendUint(append(b, '-'), g.Inode, 10))
}

// sums is a cache of the SHA-256 of sources, by their stat data when they were read.
type sums struct {
	mu    sync.Mutex
	known map[string]sumOf
}

type sumOf struct {
	StatData
	sum string
}

// of returns the entry of a source, if it has that stat data.
func (k *sums) of(name string, g StatData) (sumOf, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	x, ok := k.known[name]
	g.Reliable = x.Reliable
	return x, ok && x.StatData == g
}

func (k *sums) set(name string, g StatData, sum string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.known == nil {
		k.known = make(map[string]sumOf)
	}
	k.known[name] = sumOf{g, sum}
}

// SumSource is Sum for a source. What is known since an earlier call is not read
// again.
func (v *View) SumSource(ctx context.Context, name string) (string, error) {
	src, err := v.OpenSource(ctx, name)
	if err != nil {
		return "", err
	}
	defer src.Close()
	if x, ok := v.sums.of(name, src.StatData); ok && x.Reliable {
		return x.sum, nil
	}
	sum, err := sha256sum.Reader(src)
	if err == nil && src.Reliable { // others may change without a sign
		v.sums.set(name, src.StatData, sum)
	}
	return sum, err
}

// KnownSum returns the SHA-256 of the source with that stat data, if it was read
// by SumSource or from OpenSummed; "" otherwise.
func (v *View) KnownSum(name string, g StatData) string {
	x, ok := v.sums.of(name, g)
	if !ok {
		return ""
	}
	return x.sum
}

// IsSummed reports whether the source was read so that KnownSum may know it.
func (v *View) IsSummed(name string) bool {
	v.sums.mu.Lock()
	defer v.sums.mu.Unlock()
	_, ok := v.sums.known[name]
	return ok
}

// OpenSummed is OpenSource for copying the source: when it was read to its end, KnownSum
// has its SHA-256.
func (v *View) OpenSummed(ctx context.Context, name string) (io.ReadCloser, error) {
	src, err := v.OpenSource(ctx, name)
	if err != nil {
		return nil, err
	}
	return &sumReader{src, sha256.New(), func(sum string) { v.sums.set(name, src.StatData, sum) }}, nil
}

// sumReader is a source whose digest is computed while it is read.
type sumReader struct {
	*Source
	hash hash.Hash
	end  func(sum string)
}

// Read implements io.Reader.
func (s *sumReader) Read(b []byte) (int, error) {
	n, err := s.Source.Read(b)
	s.hash.Write(b[:n])
	if err == io.EOF {
		s.end(hex.EncodeToString(s.hash.Sum(nil)))
	}
	return n, err
}
