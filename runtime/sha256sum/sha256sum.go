// Package sha256sum computes SHA-256 digests as text.
package sha256sum

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"sync"
)

// buffers are what Reader reads into. One for each of many small files would be mostly garbage.
var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// Reader returns the SHA-256 of what r holds in hexadecimal.
func Reader(r io.Reader) (string, error) {
	buf := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buf)
	sum := sha256.New()
	if _, err := io.CopyBuffer(sum, struct{ io.Reader }{r}, buf[:]); err != nil { // a file would copy without buf
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Bytes returns the SHA-256 of b in hexadecimal.
func Bytes(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Short returns the first bytes of the SHA-256 of a text in hexadecimal, for names.
func Short(text string, bytes int) string { return Text(text)[:2*bytes] }

// Text returns the SHA-256 of a text in hexadecimal.
func Text(text string) string {
	buf := new([4 << 10]byte)
	sum := sha256.New()
	for len(text) > 0 {
		n := copy(buf[:], text)
		sum.Write(buf[:n])
		text = text[n:]
	}
	return hex.EncodeToString(sum.Sum(buf[:0]))
}
