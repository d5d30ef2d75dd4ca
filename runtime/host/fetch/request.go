package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// A Request is what to fetch over HTTP, and how. What authorizes it, the user
// and the headers, is sent to the server of the URL only: it does not follow a
// redirect to another one, and is in no message.
type Request struct {
	// URL is http or https. A user in it is as good as Username and Password.
	URL *url.URL
	// Username and Password are for basic authentication, if Username is set.
	Username, Password string
	// Header is added to the request.
	Header map[string]string
	// ETag and LastModified are what the server said of the content that is here already; "" for
	// nothing. If it has no other, the transfer fails with ErrNotModified (RFC 9110, section 13.1).
	ETag, LastModified string
	// Checksum is the SHA-256 of the content in hexadecimal; "" accepts any.
	Checksum string
	// Stall ends the download if for that long nothing comes, or less than a server
	// sends that means it: slowest bytes a second. 0 means DefaultStall. There is no
	// other limit on how long a download takes.
	Stall time.Duration
	// MaxBytes ends the download if more comes, or if the server says before that more
	// would; 0 means DefaultLimit.
	MaxBytes int64
}

// DefaultStall is how long a server may be silent, DefaultLimit how much it may
// send.
const (
	DefaultStall = time.Minute
	DefaultLimit = 10 << 30
)

// RedactURL formats u for messages: without its user, its password and its
// query, any of which may be what authorizes a download.
func RedactURL(u *url.URL) string {
	c := *u
	c.Fragment, c.RawFragment = "", ""
	if c.User != nil {
		c.User = url.User("xxxxx")
	}
	if c.RawQuery != "" {
		c.RawQuery = "xxxxx"
	}
	return c.String()
}

// NewTransport returns what carries requests; it asks the environment for a proxy.
func NewTransport() http.RoundTripper {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 30 * time.Second,
		IdleConnTimeout:     10 * time.Second,
		ForceAttemptHTTP2:   true,
		// An archive that is marked as compressed is to arrive as it is.
		DisableCompression: true,
	}
}

const maxRedirects = 10

// ErrNotModified says that the server has what is here already.
var ErrNotModified = errors.New("it is not modified")

// open sends the request, follows redirects and returns the answer. It calls alive before
// each request.
func (d Request) open(ctx context.Context, t http.RoundTripper, alive func()) (*http.Response, error) {
	first := *d.URL
	if user := first.User; user != nil {
		if d.Username == "" {
			d.Username = user.Username()
			d.Password, _ = user.Password()
		}
		first.User = nil
	}
	at, trusted, via := &first, true, func(err error) error { return err }
	for range maxRedirects + 1 {
		alive()
		resp, err := d.get(ctx, t, at, trusted)
		if err != nil {
			return nil, via(err)
		}
		if resp.StatusCode == http.StatusOK {
			return resp, nil
		}
		resp.Body.Close()
		if resp.StatusCode == http.StatusNotModified && d.ETag+d.LastModified != "" {
			return nil, ErrNotModified
		}
		if !isRedirect(resp.StatusCode) {
			return nil, via(d.refusal(resp.StatusCode, trusted))
		}
		next, err := at.Parse(resp.Header.Get("Location"))
		if err != nil || resp.Header.Get("Location") == "" {
			return nil, via(fmt.Errorf("status %d without a usable Location", resp.StatusCode))
		}
		if err := d.follows(at, next); err != nil {
			return nil, via(err)
		}
		trusted = trusted && sameServer(at, next)
		at, via = next, func(err error) error { return fmt.Errorf("redirected to %s: %w", RedactURL(next), err) }
	}
	return nil, fmt.Errorf("more than %d redirects", maxRedirects)
}

// get sends one request. What authorizes it goes with it if trusted is set.
func (d Request) get(ctx context.Context, t http.RoundTripper, at *url.URL, trusted bool) (*http.Response, error) {
	bare := *at
	bare.User, bare.Fragment = nil, ""
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, bare.String(), nil)
	if err != nil {
		return nil, errors.New("want a valid URL")
	}
	req.Header.Set("User-Agent", "ccm")
	if d.ETag != "" {
		req.Header.Set("If-None-Match", d.ETag)
	}
	if d.LastModified != "" {
		req.Header.Set("If-Modified-Since", d.LastModified)
	}
	if user := at.User; user != nil { // the server that redirected said so
		password, _ := user.Password()
		req.SetBasicAuth(user.Username(), password)
	}
	if trusted {
		if d.Username != "" {
			req.SetBasicAuth(d.Username, d.Password)
		}
		for _, name := range slices.Sorted(maps.Keys(d.Header)) {
			req.Header.Set(name, d.Header[name])
			if strings.EqualFold(name, "Host") {
				req.Host = d.Header[name]
			}
		}
	}
	resp, err := t.RoundTrip(req)
	return resp, plainError(err)
}

// plainError replaces errors of net/http that say nothing to who has not read its source.
func plainError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF):
		return errors.New("the server ended the connection without an answer")
	case strings.Contains(err.Error(), "readLoopPeekFailLocked"): // something came before the request was sent
		return errors.New("the server sent something before it was asked, so it is probably not an HTTP server")
	}
	return err
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// follows reports why a redirect is not followed, if it is not.
func (d Request) follows(from, to *url.URL) error {
	switch {
	case to.Scheme != "http" && to.Scheme != "https" || to.Host == "":
		return fmt.Errorf("redirect to %s, which is neither http nor https", RedactURL(to))
	case from.Scheme == "https" && to.Scheme == "http" && d.Checksum == "":
		return fmt.Errorf("redirect from https to %s, which anyone on the way can change (give a checksum to allow it)", RedactURL(to))
	}
	return nil
}

// sameServer reports whether what authorizes a request to one URL may go with
// one to the other: scheme, host and port are the same, or the same server asks
// for https.
func sameServer(from, to *url.URL) bool {
	if !strings.EqualFold(from.Hostname(), to.Hostname()) {
		return false
	}
	if from.Scheme == to.Scheme {
		return portOf(from) == portOf(to)
	}
	return to.Scheme == "https" && portOf(from) == "80" && portOf(to) == "443"
}

func portOf(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return map[string]string{"http": "80", "https": "443"}[u.Scheme]
}

// refusal is the error of a status other than 200.
func (d Request) refusal(status int, trusted bool) error {
	err := fmt.Errorf("want status 200, got %d %s", status, http.StatusText(status))
	authorized := d.Username != "" || len(d.Header) > 0
	if !trusted && authorized && (status == http.StatusUnauthorized || status == http.StatusForbidden) {
		return fmt.Errorf("%w (credentials and headers do not follow a redirect to another server)", err)
	}
	return err
}

// IsURL reports whether a source is an http or https URL and not a path.
func IsURL(source string) bool {
	return strings.HasPrefix(source, "http://") || strings.HasPrefix(source, "https://")
}
