package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
)

// Sum returns the SHA-256 of the regular file at the path in hexadecimal. It is
// read until the context ends.
func (v *View) Sum(ctx context.Context, name string) (string, error) {
	f, err := v.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return SumReader(untilDone(ctx, f))
}

// SumReader returns the SHA-256 of what r holds in hexadecimal.
func SumReader(r io.Reader) (string, error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// SumBytes returns the SHA-256 of b in hexadecimal.
func SumBytes(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// SumText returns the SHA-256 of a text in hexadecimal.
func SumText(text string) string {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	sum := sha256.New()
	for len(text) > 0 {
		n := copy(*buf, text)
		sum.Write((*buf)[:n])
		text = text[n:]
	}
	return hex.EncodeToString(sum.Sum((*buf)[:0]))
}
