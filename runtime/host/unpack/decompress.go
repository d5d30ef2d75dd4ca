package unpack

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// maxWindow is the largest window, in bytes, of a compressed stream, and so bounds the memory to
// read it. xz -9 needs 64 MiB, zstd --ultra -22 needs this.
const maxWindow = 128 << 20

var errFormat = errors.New("archive type not supported, want one of " + Suffixes())

// compressions are the compressions of the formats, and the bytes with which their streams begin
// (RFC 1952, the .xz file format 1.2.1, RFC 8878).
var compressions = map[Format]struct{ name, magic string }{
	TarGzip: {"gzip", "\x1f\x8b"},
	TarXz:   {"xz", "\xfd7zXZ\x00"},
	TarZstd: {"zstd", "\x28\xb5\x2f\xfd"},
}

// isSkippable reports whether bytes begin a skippable frame of zstd (RFC 8878, section 3.1.2).
func isSkippable(head []byte) bool {
	return len(head) == 4 && head[0]&0xf0 == 0x50 && string(head[1:]) == "\x2a\x4d\x18"
}

// decompressed returns a reader of the tar archive in r, and a function that frees it.
func decompressed(from io.Reader, format Format) (io.Reader, func(), error) {
	r := bufio.NewReader(from)
	c := compressions[format]
	if head, _ := r.Peek(len(c.magic)); !strings.HasPrefix(c.magic, string(head)) && !isSkippable(head) {
		return nil, nil, fmt.Errorf("it is no %s file", c.name)
	}
	switch format {
	case Tar:
		return r, func() {}, nil
	case TarGzip:
		gz, err := gzip.NewReader(r)
		return gz, func() {}, err
	case TarXz:
		x, err := xz.ReaderConfig{SingleStream: true}.NewReader(&xzGuard{from: r})
		return x, func() {}, err
	case TarZstd:
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, nil, err
		}
		return z, z.Close, nil
	}
	return nil, nil, errFormat
}
