package sources

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"net/url"

	"github.com/luaccm/ccm/runtime/host/fetch"
)

// A Source is the open content of a source that the user names. Sources belong to the script, not
// to the machine below the root.
type Source struct {
	io.ReadCloser
	StatData
	// Sparse is set if the source has holes: parts of zeros that are not on disk.
	Sparse bool
}

// HasHoles reports whether the source is sparse. A copy of it has holes too.
func (s *Source) HasHoles() bool { return s.Sparse }

// InMemory returns a source whose content is in memory.
func InMemory(text []byte, g StatData) *Source {
	if g.Size = int64(len(text)); g.Size > 0 {
		g.Inode = 0 // pseudo files of the kernel change without a sign
	}
	return &Source{ReadCloser: io.NopCloser(bytes.NewReader(text)), StatData: g}
}

// CheckSum returns an error if the SHA-256 of a source differs from checksum, which may be "".
func CheckSum(source, sum, checksum string) error {
	if checksum == "" || sum == checksum {
		return nil
	}
	if u, err := url.Parse(source); err == nil {
		source = fetch.RedactURL(u)
	}
	return fmt.Errorf("%s: checksum mismatch, expected %q got %q", source, checksum, sum)
}

// Summed returns a source whose digest is computed while it is read. At the end of the source,
// end is called with its SHA-256 in hexadecimal, and the last Read returns the error of end.
func Summed(s *Source, end func(sum string) error) io.ReadCloser {
	return &sumReader{s, sha256.New(), end}
}

// A sumReader computes the digest of the bytes read.
type sumReader struct {
	*Source
	hash hash.Hash
	end  func(sum string) error
}

// Read implements io.Reader.
func (s *sumReader) Read(b []byte) (int, error) {
	n, err := s.Source.Read(b)
	s.hash.Write(b[:n])
	if err == io.EOF {
		if wrong := s.end(hex.EncodeToString(s.hash.Sum(nil))); wrong != nil {
			err = wrong
		}
	}
	return n, err
}
