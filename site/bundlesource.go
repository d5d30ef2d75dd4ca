package site

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

// openBundle opens a bundle, or a remote script or manifest. It returns nil for a local script or
// manifest.
func (r remote) openBundle(ctx context.Context, name, natsContext string, o *BundleOptions) (*siteStream, error) {
	if fetch.IsURL(name) {
		return r.openURL(ctx, name, o)
	}
	if strings.HasPrefix(name, objectScheme) {
		return r.openObject(ctx, name, natsContext, o)
	}
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
	f, err := r.files.Trust().Open(name)
	if err != nil {
		return nil, err
	}
	found, err := bundle.Find(f)
	if found == nil || err != nil {
		return nil, errors.Join(placed(name, cmp.Or(err, errChanged)), f.Close())
	}
	if _, at, _ := found.Outer(); at > 0 {
		if flag := o.demandFlag(); flag != "" {
			return nil, errors.Join(diag.At(diag.Pos{File: name}, diag.AppliesOnly(flag, "bundles, not to executables")).WithHint("verify executables with sha256sum instead"), f.Close())
		}
	}
	return &siteStream{
		ReadCloser: readCloser{found, func() { f.Close() }}, shownName: name, stateName: known, wrapError: func(err error) error { return err },
		openCompanion: func(_ context.Context, suffix string) (io.ReadCloser, error) {
			return r.files.Trust().Open(name + suffix)
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
func (r remote) openURL(ctx context.Context, name string, o *BundleOptions) (*siteStream, error) {
	u, err := url.Parse(name)
	if err != nil || u.Host == "" {
		return nil, diag.At(diag.Pos{}, diag.Expected("a URL such as https://example.org/site.tar.gz").Got("%q", name))
	}
	shown := fetch.RedactURL(u)
	if err := r.checkPlainHTTP(u, o.demandFlag() != ""); err != nil {
		return nil, err
	}
	x, err := get(ctx, u, o.SHA256, bundle.DefaultLimits.PackedSize)
	if err != nil {
		return nil, err
	}
	return &siteStream{
		ReadCloser: readCloser{x, x.Close}, shownName: shown, stateName: shown, single: fileName(u.Path), wrapError: x.Failed,
		openCompanion: func(ctx context.Context, suffix string) (io.ReadCloser, error) {
			v := *u
			v.Path, v.RawPath = u.Path+suffix, ""
			x, err := get(ctx, &v, o.SHA256, signers.MaxSignature)
			if err != nil {
				return nil, err
			}
			return readCloser{x, x.Close}, nil
		},
	}, nil
}

// openObject opens an object in NATS.
func (r remote) openObject(ctx context.Context, name, natsContext string, o *BundleOptions) (*siteStream, error) {
	bucket, key, err := bucketAndKey(name, objectScheme)
	if err != nil {
		return nil, err
	}
	client := r.nats(natsContext, o.demandFlag() != "")
	object, err := client.Object(ctx, bucket, key, bundle.DefaultLimits.PackedSize)
	if err != nil {
		return nil, placed(name, explainNATS(err))
	}
	return &siteStream{
		ReadCloser: object, shownName: name, stateName: name, single: fileName(key), wrapError: func(err error) error { return err },
		openCompanion: func(ctx context.Context, suffix string) (io.ReadCloser, error) {
			return client.Object(ctx, bucket, key+suffix, signers.MaxSignature)
		},
	}, nil
}

// get downloads a URL. With a checksum, redirects to plain http are allowed.
func get(ctx context.Context, u *url.URL, checksum string, limit int64) (*fetch.Transfer, error) {
	x := fetch.New(ctx, fetch.Request{URL: u, Checksum: checksum}, limit)
	err := x.Open(fetch.NewTransport())
	if err == nil {
		err = x.CheckSize()
	}
	if err != nil {
		err = x.Failed(err)
		x.Close()
		return nil, err
	}
	return x, nil
}

// knownURL returns a URL without credentials.
func knownURL(name string) (string, bool) {
	if !isRemote(name) {
		return "", false
	}
	u, err := url.Parse(name)
	if err != nil {
		return "", false
	}
	return fetch.RedactURL(u), true
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
