package unpack

import (
	"bufio"
	"compress/bzip2"
	"compress/gzip"

	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/luaccm/ccm/runtime/diag"
)

// maxWindow is the largest window, in bytes, of a compressed stream, and so bounds the memory to
// read it. xz -9 needs 64 MiB, zstd --ultra -22 needs this.
const maxWindow = 128 << 20

var errFormat = diag.Not("archive type", "supported: %w", diag.Expected("one of %s", Suffixes()))

// compressions are the compressions of the formats, and the bytes with which their streams begin
// (RFC 1952, the .xz file format 1.2.1, RFC 8878; bzip2 has no standard).
var compressions = map[Format]struct{ name, magic string }{
	Gzip: {"gzip", "\x1f\x8b"},
	Xz:   {"xz", "\xfd7zXZ\x00"},
	Zstd: {"zstd", "\x28\xb5\x2f\xfd"},
	Bzip: {"bzip2", "BZh"},
}

// compression returns the format of the compressed stream of an archive.
func (f Format) compression() Format { return Format(strings.TrimPrefix(string(f), string(Tar))) }

// isSkippable reports whether bytes begin a skippable frame of zstd (RFC 8878, section 3.1.2).
func isSkippable(head []byte) bool {
	return len(head) == 4 && head[0]&0xf0 == 0x50 && string(head[1:]) == "\x2a\x4d\x18"
}

// decompressed returns a reader of the tar archive or file in r, and a function that frees it.
func decompressed(from io.Reader, format Format) (io.Reader, func(), error) {
	r := bufio.NewReader(from)
	c := compressions[format.compression()]
	if head, _ := r.Peek(len(c.magic)); !strings.HasPrefix(c.magic, string(head)) && !isSkippable(head) {
		return nil, nil, diag.Not("", "a %s file", c.name)
	} else if format.isSingle() && len(head) < len(c.magic) { // of a tar archive the end is known
		return nil, nil, io.ErrUnexpectedEOF
	}
	if format == Tar {
		return r, func() {}, nil
	}
	switch format.compression() {
	case Gzip:
		gz, err := gzip.NewReader(r)
		return gz, func() {}, err
	case Xz:
		x, err := xz.ReaderConfig{SingleStream: true}.NewReader(&xzGuard{from: r})
		return x, func() {}, err
	case Zstd:
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, nil, err
		}
		return z, z.Close, nil
	case Bzip:
		return bzip2.NewReader(r), func() {}, nil
	}
	return nil, nil, errFormat
}
