package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"

	"github.com/luaccm/ccm/runtime/sha256sum"
)

// Sum returns the SHA-256 of the regular file at the path in hexadecimal. It is
// read until the context ends.
func (v *View) Sum(ctx context.Context, name string) (string, error) {
	f, err := v.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return sha256sum.Reader(untilDone(ctx, f))
}

// SumSource is Sum for a source. What is known since an earlier call is not read
// again.
func (v *View) SumSource(ctx context.Context, name string) (string, error) {
	src, err := v.OpenSource(ctx, name)
	if err != nil {
		return "", err
	}
	defer src.Close()
	if sum, reliable := v.sums.Of(name, src.StatData); reliable {
		return sum, nil
	}
	sum, err := sha256sum.Reader(src)
	if err == nil && src.Reliable { // others may change without a sign
		v.sums.Set(name, src.StatData, sum)
	}
	return sum, err
}

// KnownSum returns the SHA-256 of the source with that stat data, if it was read
// by SumSource or from OpenSummed; "" otherwise.
func (v *View) KnownSum(name string, g StatData) string {
	sum, _ := v.sums.Of(name, g)
	return sum
}

// IsSummed reports whether the source was read so that KnownSum may know it.
func (v *View) IsSummed(name string) bool {
	return v.sums.Has(name)
}

// OpenSummed is OpenSource for copying the source: when it was read to its end, KnownSum
// has its SHA-256.
func (v *View) OpenSummed(ctx context.Context, name string) (io.ReadCloser, error) {
	src, err := v.OpenSource(ctx, name)
	if err != nil {
		return nil, err
	}
	return &sumReader{src, sha256.New(), func(sum string) { v.sums.Set(name, src.StatData, sum) }}, nil
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
