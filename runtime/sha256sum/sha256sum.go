// Package sha256sum computes SHA-256 digests as text.
package sha256sum

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
)

// Reader returns the SHA-256 of what r holds in hexadecimal.
func Reader(r io.Reader) (string, error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Bytes returns the SHA-256 of b in hexadecimal.
func Bytes(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

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
