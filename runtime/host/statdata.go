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

// A StatData is what can be told of a source without reading it.
type StatData struct {
	Size int64 // in bytes
	// MTime and CTime are when its content and when anything of it was last changed,
	// in nanoseconds since 1970, Inode is its number on the file system. All are 0 of
	// what is no file.
	MTime, CTime int64
	Inode        uint64
	// Reliable says that whatever is done to the source from now on gives it another
	// glance.
	Reliable bool
}

// timeStep is how far apart two changes of a file are at most that its times do
// not tell apart: two seconds on FAT.
const timeStep = 2 * time.Second

// statDataOf returns the glance at a file.
func statDataOf(fi os.FileInfo, now time.Time) StatData {
	g := StatData{Size: fi.Size()}
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		g.MTime, g.CTime, g.Inode = st.Mtim.Nano(), st.Ctim.Nano(), st.Ino
		g.Reliable = now.Sub(time.Unix(st.Ctim.Unix())) > timeStep
	}
	return g
}

// Stamp returns what stands for the content of a source from now on: something
// else holds it as soon as anything was done to the source. It is "" if nothing
// does.
func (g StatData) Stamp() string {
	if !g.Reliable || g.Inode == 0 {
		return ""
	}
	b := strconv.AppendInt(nil, g.MTime, 10)
	b = strconv.AppendInt(append(b, '-'), g.CTime, 10)
	return string(strconv.AppendUint(append(b, '-'), g.Inode, 10))
}

// sums remembers the SHA-256 of sources, by what was seen of them when they were
// read.
type sums struct {
	mu    sync.Mutex
	known map[string]sumOf
}

type sumOf struct {
	StatData
	sum string
}

// of returns what is known of the source that has that glance.
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
	if err == nil && src.Reliable { // of others it is not known for how long it holds
		v.sums.set(name, src.StatData, sum)
	}
	return sum, err
}

// KnownSum returns the SHA-256 of the source that has that glance, if it was read
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

// OpenSummed is OpenSource for whoever copies the source: when it was read to its
// end, KnownSum tells its SHA-256.
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
