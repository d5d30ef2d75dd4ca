package host

import (
	"context"
	"io"

	"github.com/luaccm/ccm/runtime/host/sources"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/sha256sum"
)

// Sum returns the SHA-256 of the regular file at the path in hexadecimal. Reading fails once the
// context ends.
func (v *View) Sum(ctx context.Context, name string) (string, error) {
	f, err := v.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return sha256sum.Reader(safepath.Within(ctx, f))
}

// Sum is Sum for a source. A source with a known digest is not read again.
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
	if err == nil && src.Reliable { // without reliable stat data a change would not be noticed
		s.v.sums.Set(name, src.StatData, sum)
	}
	return sum, err
}

// KnownSum returns the SHA-256 of the source with that stat data, if the source was read by Sum
// or OpenSummed; "" otherwise.
func (s Sources) KnownSum(name string, g StatData) string {
	sum, _ := s.v.sums.Of(name, g)
	return sum
}

// NoteContent records the digest of a source whose whole content was read. Info is that of the
// source before the read.
func (s Sources) NoteContent(name string, info *safepath.Info, content []byte) {
	if g := sources.StatDataOfInfo(info, s.v.Now()); g.Reliable {
		s.v.sums.Set(name, g, sha256sum.Bytes(content))
	}
}

// IsSummed reports whether a digest of the source is known for some stat data.
func (s Sources) IsSummed(name string) bool {
	return s.v.sums.Has(name)
}

// OpenSummed is Open for copying the source. Once it is read to its end, KnownSum has its
// SHA-256. If checksum is not "" and differs from that, the last Read returns an error.
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
