package host

import (
	"context"

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
