package pkgtool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"net/url"
	"path"
	"strings"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/fetch"
)

// maxSource is the largest package file, in bytes, fetched from a URL.
const maxSource = 512 << 20

// WithSource calls install with the path of a package's source, after checking its checksum. The
// suffix ends the names of package files, such as ".deb".
func WithSource(ctx context.Context, h *host.Host, want resources.Package, suffix string, install func(path string) error) error {
	if !fetch.IsURL(want.Source) {
		if err := readable(h.Sources(), want.Source); err != nil {
			return err // clearer than a package manager's error
		}
		if want.Checksum != "" {
			sum, err := h.Sources().Sum(ctx, want.Source)
			if err == nil {
				err = checkSum(want, sum)
			}
			if err != nil {
				return err
			}
		}
		return h.Sources().ForCommand(want.Source, install)
	}
	at, err := url.Parse(want.Source)
	if err != nil {
		return diag.Expected("a valid URL as source: %w", err)
	}
	content, err := h.Fetch(ctx, fetch.Request{URL: at}, maxSource)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	if err := checkSum(want, hex.EncodeToString(sum[:])); err != nil {
		return err
	}
	return h.WithScratch(func(s *host.Scratch) error {
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
		return diag.Expected("a source with the SHA-256 %s", want.Checksum).Got("one with %s", sum)
	}
	return nil
}

// CheckSource returns an error if the source of a package is a path that cannot be read or that
// check refuses. A plan does not fetch a URL. The source of a package in its desired state is not
// checked.
func CheckSource(v *host.View, want resources.Package, have resources.PackageState, check func(path string) error) error {
	if want.Source == "" || fetch.IsURL(want.Source) || have.Installed() && (!want.Ensure.IsVersion() || have.Order == 0) {
		return nil
	}
	if err := readable(v.Sources(), want.Source); err != nil {
		return err
	}
	return v.Sources().ForCommand(want.Source, check)
}

func readable(sources host.Sources, path string) error {
	f, err := sources.OpenFile(path)
	if err != nil {
		return err
	}
	return f.Close()
}

// A File is the package in a package file, as the package manager reports.
type File struct{ Name, Version string }

// Check returns an error if the file has another package than the wanted one, or another version:
// it would be installed, and the wanted one would still be missing.
func (f File) Check(want resources.Package, plain string, compare func(a, b string) (int, error)) error {
	if f.Name != plain {
		return diag.Expected("a source with the package %s", plain).Found("%s %s in it", f.Name, f.Version)
	}
	if !want.Ensure.IsVersion() {
		return nil
	}
	order, err := compare(f.Version, string(want.Ensure))
	if err == nil && order != 0 {
		err = diag.Expected("a source with version %s of %s", want.Ensure, plain).Found("%s in it", f.Version)
	}
	return err
}

// AskFile runs a command that prints the name and the version of the package in a file, separated
// by a space.
func (t *Tool) AskFile(ctx context.Context, v *host.View, argv ...string) (f File, err error) {
	res, err := t.Query(ctx, v, argv...)
	if err != nil {
		return f, err
	}
	name, version, ok := strings.Cut(strings.TrimSpace(string(res.Stdout)), " ")
	if res.Code != 0 || !ok {
		return f, diag.Expected("a package as source%s", res.LastWords())
	}
	return File{name, version}, nil
}

// checkFile checks the package in a file, if the package manager can tell.
func (p *Packages) checkFile(ctx context.Context, v *host.View, want resources.Package, path string) error {
	if p.File == nil {
		return nil
	}
	f, err := p.File(ctx, v, path)
	if err != nil {
		return err
	}
	return f.Check(want, p.plain(want.Name), func(a, b string) (int, error) { return p.Compare(ctx, v, a, b) })
}
