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

	"github.com/luaccm/ccm/runtime/diag"
)

// A Request describes an HTTP download. Its credentials, the user and the headers, go only to the
// server of the URL: not with a redirect to another server, and not into messages.
type Request struct {
	// URL is http or https. A user in the URL counts like Username and Password.
	URL *url.URL
	// Username and Password are for basic authentication, if Username is set.
	Username, Password string
	// Header is added to the request.
	Header map[string]string
	// ETag and LastModified are the validators of the content that is here already; "" for none.
	// If the server has the same content, the transfer fails with ErrNotModified (RFC 9110,
	// section 13.1).
	ETag, LastModified string
	// Checksum is the SHA-256 of the content in hexadecimal; "" accepts any.
	Checksum string
	// Stall ends the download if nothing comes for that long, or fewer than slowest bytes a
	// second. 0 means DefaultStall. The time of a download has no other limit.
	Stall time.Duration
	// MaxBytes ends the download if more bytes come, or if the server announces more; 0 means
	// DefaultLimit.
	MaxBytes int64
}

// DefaultStall is the time that a server may be silent, DefaultLimit the number of bytes that it
// may send.
const (
	DefaultStall = time.Minute
	DefaultLimit = 10 << 30
)

// RedactURL formats u for messages without its user, password and query, because these may be
// credentials.
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

// NewTransport returns a transport that takes its proxy from the environment.
func NewTransport() http.RoundTripper {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 30 * time.Second,
		IdleConnTimeout:     10 * time.Second,
		ForceAttemptHTTP2:   true,
		// A compressed archive has to arrive compressed.
		DisableCompression: true,
	}
}

const maxRedirects = 10

// ErrNotModified says that the content that is here already is the server's.
var ErrNotModified = diag.Not("", "modified")

// open sends the request, follows redirects and returns the response. It calls alive before each
// request.
func (d Request) open(ctx context.Context, t http.RoundTripper, method string, alive func()) (*http.Response, error) {
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
		resp, err := d.send(ctx, t, method, at, trusted)
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
			return nil, via(diag.Lacks(fmt.Sprintf("response with status %d", resp.StatusCode), "a usable Location"))
		}
		if err := d.follows(at, next); err != nil {
			return nil, via(err)
		}
		trusted = trusted && sameServer(at, next)
		at, via = next, func(err error) error { return fmt.Errorf("redirected to %s: %w", RedactURL(next), err) }
	}
	return nil, diag.Exceeds("request", "%d redirects", maxRedirects)
}

// send sends one request. With trusted, the credentials go with it.
func (d Request) send(ctx context.Context, t http.RoundTripper, method string, at *url.URL, trusted bool) (*http.Response, error) {
	bare := *at
	bare.User, bare.Fragment = nil, ""
	req, err := http.NewRequestWithContext(ctx, method, bare.String(), nil)
	if err != nil {
		return nil, diag.Expected("a valid URL")
	}
	req.Header.Set("User-Agent", "ccm")
	if d.ETag != "" {
		req.Header.Set("If-None-Match", d.ETag)
	}
	if d.LastModified != "" {
		req.Header.Set("If-Modified-Since", d.LastModified)
	}
	if user := at.User; user != nil { // credentials in the URL of a redirect
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

// plainError replaces errors of net/http that are meaningless without its source.
func plainError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF):
		return errors.New("server closed the connection")
	case strings.Contains(err.Error(), "readLoopPeekFailLocked"): // the server sent something before the request
		return diag.Unexpected("data from the server before the request: it is probably not an HTTP server")
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

// follows returns the reason why a redirect is not followed, or nil.
func (d Request) follows(from, to *url.URL) error {
	switch {
	case to.Scheme != "http" && to.Scheme != "https" || to.Host == "":
		return diag.Cannot("follow", "the redirect to "+RedactURL(to), diag.Expected("http or https"))
	case from.Scheme == "https" && to.Scheme == "http" && d.Checksum == "":
		return diag.Cannot("follow", "the redirect from https to "+RedactURL(to), diag.Not("", "protected against tampering (set a checksum to allow it)"))
	}
	return nil
}

// sameServer reports whether the credentials for one URL may go to another: scheme, host and port
// are the same, or the same server changes to https.
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

// refusal returns the error for a status other than 200.
func (d Request) refusal(status int, trusted bool) error {
	err := diag.Expected("status 200").Got("%d %s", status, http.StatusText(status))
	authorized := d.Username != "" || len(d.Header) > 0
	if !trusted && authorized && (status == http.StatusUnauthorized || status == http.StatusForbidden) {
		return fmt.Errorf("%w (credentials and headers are not sent to another server after a redirect)", err)
	}
	return err
}

// IsURL reports whether a source is an http or https URL and not a path.
func IsURL(source string) bool {
	return strings.HasPrefix(source, "http://") || strings.HasPrefix(source, "https://")
}
