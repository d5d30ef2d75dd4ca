package host

import (
	"context"
	"io"

	"github.com/luaccm/ccm/runtime/host/sources"
	"github.com/luaccm/ccm/runtime/safepath"
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
	return sha256sum.Reader(safepath.Within(ctx, f))
}

// Sum is Sum for a source. What is known since an earlier call is not read
// again.
func (s Sources) Sum(ctx context.Context, name string) (string, error) {
	src, err := s.Open(ctx, name)
	if err != nil {
		return "", err
	}
	defer src.Close()
	if sum, reliable := s.v.sums.Of(name, src.StatData); reliable {
		return sum, nil
	}
	sum, err := sha256sum.Reader(src)
	if err == nil && src.Reliable { // others may change without a sign
		s.v.sums.Set(name, src.StatData, sum)
	}
	return sum, err
}

// KnownSum returns the SHA-256 of the source with that stat data, if it was read
// by SumSource or from OpenSummed; "" otherwise.
func (s Sources) KnownSum(name string, g StatData) string {
	sum, _ := s.v.sums.Of(name, g)
	return sum
}

// NoteContent notes what a source holds that was read as a whole, and what was known of it before.
func (s Sources) NoteContent(name string, info *Info, content []byte) {
	if g := sources.StatDataOfInfo(info, s.v.Now()); g.Reliable {
		s.v.sums.Set(name, g, sha256sum.Bytes(content))
	}
}

// IsSummed reports whether the source was read so that KnownSum may know it.
func (s Sources) IsSummed(name string) bool {
	return s.v.sums.Has(name)
}

// OpenSummed is OpenSource for copying the source: when it was read to its end, KnownSum
// has its SHA-256. Unless that is checksum or checksum is "", the last Read returns an error.
func (s Sources) OpenSummed(ctx context.Context, name, checksum string) (io.ReadCloser, error) {
	src, err := s.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	return sources.Summed(src, func(sum string) error {
		s.v.sums.Set(name, src.StatData, sum)
		return sources.CheckSum(name, sum, checksum)
	}), nil
}
