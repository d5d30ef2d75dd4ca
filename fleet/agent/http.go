package agent

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"path"

	"github.com/luaccm/ccm/runtime/bundle"
	"github.com/luaccm/ccm/runtime/host/fetch"
	"github.com/luaccm/ccm/runtime/signers"
)

// An httpSource is a bundle, script or manifest at a URL. Requests carry the ETag and time of the
// last response (RFC 9110, section 13.1), so that an unchanged content is not sent again.
type httpSource struct {
	bundleSource
	url  *url.URL
	name string
}

func (x *access) newHTTPSource(c SourceConfig) (*httpSource, error) {
	u, err := url.Parse(c.URL)
	if err != nil {
		return nil, err
	}
	s := &httpSource{bundleSource: bundleSource{x: x, config: c, single: path.Base(u.Path)}, url: u, name: fetch.RedactURL(u)}
	s.store, err = x.store.openStore(s.name, c.URL, c.SHA256)
	return s, err
}

// Name implements Source.
func (s *httpSource) Name() string { return s.name }

// Take implements Source.
func (s *httpSource) Take() (Site, func(), bool) { return s.store.take() }

// Poll implements Source.
func (s *httpSource) Poll(ctx context.Context) (changed bool, err error) {
	if err := s.x.checkPlainHTTP(s.url, s.config.SHA256 != "" || s.config.Signers != ""); err != nil {
		return false, err
	}
	_, who, err := s.x.signersText(ctx, s.config.Signers)
	if err != nil {
		return false, err
	}
	r := fetch.Request{URL: s.url, Checksum: s.config.SHA256}
	if now := s.store.current(); now != nil && now.Signers == fingerprint(who) {
		r.ETag, r.LastModified = now.Revision, now.LastModified
	}
	t := fetch.NewTransport()
	defer closeIdle(t)
	x := fetch.New(ctx, r, bundle.DefaultLimits.PackedSize)
	defer x.Close()
	switch err := x.Open(t); {
	case errors.Is(err, fetch.ErrNotModified):
		return false, nil
	case err != nil:
		return false, x.Failed(err)
	}
	if err := x.CheckSize(); err != nil {
		return false, x.Failed(err)
	}
	changed, err = s.install(ctx, &remote{
		body: transferReader{x}, revision: x.ETag, lastModified: x.LastModified,
		signature: func(ctx context.Context) ([]byte, error) { return s.fetchSignature(ctx, t) },
	})
	return changed, err
}

// fetchSignature fetches the signature beside the bundle.
func (s *httpSource) fetchSignature(ctx context.Context, t http.RoundTripper) ([]byte, error) {
	u := *s.url
	u.Path, u.RawPath = u.Path+bundle.SignatureSuffix, ""
	x := fetch.New(ctx, fetch.Request{URL: &u}, signers.MaxSignature)
	defer x.Close()
	if err := x.Open(t); err != nil {
		return nil, x.Failed(err)
	}
	return readSignature(transferReader{x})
}

// A transferReader adds the transfer to the error of an interrupted read.
type transferReader struct{ x *fetch.Transfer }

// Read implements io.Reader.
func (f transferReader) Read(p []byte) (int, error) {
	n, err := f.x.Read(p)
	if err != nil && !isEOF(err) {
		err = f.x.Failed(err)
	}
	return n, err
}

// closeIdle closes the idle connections of a transport.
func closeIdle(t http.RoundTripper) {
	if x, ok := t.(interface{ CloseIdleConnections() }); ok {
		x.CloseIdleConnections()
	}
}

// checkPlainHTTP returns an error if root would use plain http, which anybody on the way can
// change, unless the content is checked later.
func (x *access) checkPlainHTTP(u *url.URL, checked bool) error {
	if checked || x.insecure {
		return nil
	}
	return x.policy.CheckPlain(u.String(), "", "use https, set sha256 or signers, or set allow_insecure: true")
}
