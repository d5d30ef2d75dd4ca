package bundles

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/luaccm/ccm/runtime/bundle"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host/fetch"
	"github.com/luaccm/ccm/runtime/signers"
	"github.com/luaccm/ccm/site"
	"github.com/luaccm/ccm/site/remote"
)

// A siteStream is the stream of a bundle, or of a remote script or manifest.
type siteStream struct {
	io.ReadCloser
	shownName string // name in messages
	stateName string // name in the state directory
	single    string // file name of a script or manifest; "" if the stream must be a bundle
	wrapError func(error) error
	// openCompanion opens a file beside the site, named by the site's name with a suffix.
	openCompanion func(ctx context.Context, suffix string) (io.ReadCloser, error)
}

// open opens a bundle, or a remote script or manifest. It returns nil for a local script or manifest.
func open(ctx context.Context, p *site.Process, name string, o *site.Options) (*siteStream, error) {
	switch {
	case fetch.IsURL(name):
		return openURL(ctx, p.Remote(), name, &o.Bundle)
	case strings.HasPrefix(name, remote.ObjectScheme):
		return openObject(ctx, p.Remote(), name, o)
	}
	return openFile(p.Files, name, &o.Bundle)
}

// openFile opens a local bundle.
func openFile(files *site.Files, name string, o *site.BundleOptions) (*siteStream, error) {
	if name == "-" {
		return nil, nil
	}
	if fi, err := os.Stat(name); err != nil || !fi.Mode().IsRegular() {
		return nil, nil // a pipe can be read only once; other errors are reported by its reader
	}
	switch is, err := isBundle(name); {
	case err == nil && !is && namesBundle(name):
		return nil, diag.At(diag.Pos{File: name}, diag.Not("", "a bundle, in spite of its name")).
			WithHint("copy it again, and compare its sha256sum")
	case err != nil || !is:
		return nil, nil
	}
	known, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	f, err := files.Trust().Open(name)
	if err != nil {
		return nil, err
	}
	found, err := bundle.Find(f)
	if found == nil || err != nil {
		return nil, errors.Join(placed(name, cmp.Or(err, errChanged)), f.Close())
	}
	if _, at, _ := found.Outer(); at > 0 {
		if flag := demandFlag(o); flag != "" {
			return nil, errors.Join(diag.At(diag.Pos{File: name}, diag.AppliesOnly(flag, "bundles, not to executables")).WithHint("verify executables with sha256sum instead"), f.Close())
		}
	}
	return &siteStream{
		ReadCloser: readCloser{found, func() { f.Close() }}, shownName: name, stateName: known, wrapError: func(err error) error { return err },
		openCompanion: func(_ context.Context, suffix string) (io.ReadCloser, error) {
			return files.Trust().Open(name + suffix)
		},
	}, nil
}

// errChanged says that a bundle was changed while it was read.
var errChanged = diag.Meanwhile("file", "changed")

// namesBundle reports whether a name is that of a bundle. Such a file has to be a bundle:
// otherwise the beginning of a failed download could pass for an empty script.
func namesBundle(name string) bool {
	return strings.HasSuffix(name, ".tar.gz") || strings.HasSuffix(name, ".tgz")
}

// isBundle reports whether a local file is a bundle, or an executable with one, by its beginning
// and end.
func isBundle(name string) (bool, error) {
	f, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	found, err := bundle.Find(f)
	return found != nil, err
}

// openURL downloads a site. Root refuses plain http, because anybody on the way could change what
// root runs.
func openURL(ctx context.Context, client *remote.Client, name string, o *site.BundleOptions) (*siteStream, error) {
	u, err := url.Parse(name)
	if err != nil || u.Host == "" {
		return nil, diag.At(diag.Pos{}, diag.Expected("a URL such as https://example.org/site.tar.gz").Got("%q", name))
	}
	shown := fetch.RedactURL(u)
	if demandFlag(o) == "" {
		if err := client.CheckPlainHTTP(u); err != nil {
			return nil, err
		}
	}
	x, err := remote.Get(ctx, u, o.SHA256, bundle.DefaultLimits.PackedSize)
	if err != nil {
		return nil, err
	}
	return &siteStream{
		ReadCloser: readCloser{x, x.Close}, shownName: shown, stateName: shown, single: fileName(u.Path), wrapError: x.Failed,
		openCompanion: func(ctx context.Context, suffix string) (io.ReadCloser, error) {
			v := *u
			v.Path, v.RawPath = u.Path+suffix, ""
			x, err := remote.Get(ctx, &v, o.SHA256, signers.MaxSignature)
			if err != nil {
				return nil, err
			}
			return readCloser{x, x.Close}, nil
		},
	}, nil
}

// openObject opens an object in NATS.
func openObject(ctx context.Context, from *remote.Client, name string, o *site.Options) (*siteStream, error) {
	bucket, key, err := remote.Parts(name, remote.ObjectScheme)
	if err != nil {
		return nil, err
	}
	client := from.NATS(o.Data.Context, demandFlag(&o.Bundle) != "")
	object, err := client.Object(ctx, bucket, key, bundle.DefaultLimits.PackedSize)
	if err != nil {
		return nil, placed(name, remote.ExplainNATS(err))
	}
	return &siteStream{
		ReadCloser: object, shownName: name, stateName: name, single: fileName(key), wrapError: func(err error) error { return err },
		openCompanion: func(ctx context.Context, suffix string) (io.ReadCloser, error) {
			return client.Object(ctx, bucket, key+suffix, signers.MaxSignature)
		},
	}, nil
}

// A readCloser is a reader that a function closes.
type readCloser struct {
	io.Reader
	close func()
}

// Close implements io.Closer.
func (r readCloser) Close() error { r.close(); return nil }

// fileName returns the local file name of the script or manifest at a URL, "" if the URL must be
// a bundle.
func fileName(p string) string {
	name := path.Base(p)
	if namesBundle(name) {
		return ""
	}
	if name == "." || name == "/" || len(name) > 200 || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' }) {
		return "site"
	}
	return name
}
