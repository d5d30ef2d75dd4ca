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

// A siteStream is a site that comes from elsewhere, as a stream.
type siteStream struct {
	io.ReadCloser
	shownName string // how messages speak of it
	stateName string // the name under which the state directory knows it
	single    string // the name of the file if it is no bundle but a script or manifest; "" if it must be one
	wrapError func(error) error
	// openCompanion opens what stands beside it, by its name with a suffix.
	openCompanion func(ctx context.Context, suffix string) (io.ReadCloser, error)
}

// openBundle opens what is no script or manifest here; it returns nil if it is one.
func (r remote) openBundle(ctx context.Context, name, natsContext string, o *BundleOptions) (*siteStream, error) {
	if fetch.IsURL(name) {
		return r.openURL(ctx, name, o)
	}
	if strings.HasPrefix(name, objectSchema) {
		return r.openObject(ctx, name, natsContext, o)
	}
	if name == "-" {
		return nil, nil
	}
	if fi, err := os.Stat(name); err != nil || !fi.Mode().IsRegular() {
		return nil, nil // a pipe can be read only once; of the rest who reads it says what is wrong
	}
	switch is, err := isBundle(name); {
	case err == nil && !is && namesBundle(name):
		return nil, diag.Errorf(diag.Pos{File: name}, "it is no bundle, as its name says, but something else, or it is empty").WithHint("bring it again, and compare its sha256sum")
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
		if flag := o.given(); flag != "" {
			return nil, errors.Join(diag.Errorf(diag.Pos{File: name}, "%s is for bundles and not for executables, which are checked as files are", flag).WithHint("sha256sum prints what ccm bundle --exe has printed"), f.Close())
		}
	}
	return &siteStream{
		ReadCloser: readCloser{found, func() { f.Close() }}, shownName: name, stateName: known, wrapError: func(err error) error { return err },
		openCompanion: func(_ context.Context, suffix string) (io.ReadCloser, error) {
			return r.files.Trust().Open(name + suffix)
		},
	}, nil
}

// errChanged says that a bundle is none any more.
var errChanged = errors.New("it was changed while it was read")

// namesBundle reports whether a name is that of a bundle. What it names is nothing else: the beginning of a
// download that failed would pass for a script that wants nothing.
func namesBundle(name string) bool {
	return strings.HasSuffix(name, ".tar.gz") || strings.HasSuffix(name, ".tgz")
}

// isBundle reports whether a file here is a bundle, or an executable with one, by what it begins
// and ends with.
func isBundle(name string) (bool, error) {
	f, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	found, err := bundle.Find(f)
	return found != nil, err
}

// openURL asks a server. What root does must not depend on what everybody on the way to it
// can write.
func (r remote) openURL(ctx context.Context, name string, o *BundleOptions) (*siteStream, error) {
	u, err := url.Parse(name)
	if err != nil || u.Host == "" {
		return nil, diag.Errorf(diag.Pos{}, "want a URL such as https://example.org/site.tar.gz, got %q", name)
	}
	shown := fetch.RedactURL(u)
	if err := r.checkPlainHTTP(u, o.given() != ""); err != nil {
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

// openObject asks NATS.
func (r remote) openObject(ctx context.Context, name, natsContext string, o *BundleOptions) (*siteStream, error) {
	bucket, key, err := bucketAndKey(name, objectSchema)
	if err != nil {
		return nil, err
	}
	client := r.nats(natsContext, o.given() != "")
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

// get asks a server for what is behind a URL. With a checksum it may be redirected to what
// everybody can change.
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

// knownURL returns a URL without what authorizes.
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

// A readCloser is closed by a function.
type readCloser struct {
	io.Reader
	close func()
}

// Close implements io.Closer.
func (r readCloser) Close() error { r.close(); return nil }

// fileName returns how the script or manifest behind a URL is called here, "" if it must be a bundle.
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
