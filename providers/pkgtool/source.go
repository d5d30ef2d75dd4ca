package pkgtool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"path"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/fetch"
)

// maxSource is the largest package file, in bytes, that is fetched from a URL.
const maxSource = 512 << 20

// WithSource calls install with the path of the source of a package, whose checksum is right.
// The suffix is that of package files, such as ".deb".
func WithSource(ctx context.Context, h *host.Host, want resources.Package, suffix string, install func(path string) error) error {
	if !fetch.IsURL(want.Source) {
		if want.Checksum != "" {
			sum, err := h.Sources().Sum(ctx, want.Source)
			if err == nil {
				err = checkSum(want, sum)
			}
			if err != nil {
				return err
			}
		}
		return install(want.Source)
	}
	at, err := url.Parse(want.Source)
	if err != nil {
		return fmt.Errorf("want a valid URL as source: %w", err)
	}
	content, err := h.Fetch(ctx, fetch.Request{URL: at}, maxSource)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	if err := checkSum(want, hex.EncodeToString(sum[:])); err != nil {
		return err
	}
	return h.Scratch(func(s *host.Scratch) error {
		name := path.Base(want.Name) + suffix
		if err := s.WriteFile(name, content); err != nil {
			return err
		}
		content = nil
		return install(s.Path(name))
	})
}

func checkSum(want resources.Package, sum string) error {
	if sum != string(want.Checksum) {
		return fmt.Errorf("want a source with the SHA-256 %s, got one with %s", want.Checksum, sum)
	}
	return nil
}

// CheckSource returns the error that the source of a package, a path, cannot be read. A plan
// does not fetch a URL.
func CheckSource(v *host.View, want resources.Package) error {
	if want.Source == "" || fetch.IsURL(want.Source) {
		return nil
	}
	f, err := v.Sources().OpenFile(want.Source)
	if err != nil {
		return err
	}
	return f.Close()
}
