// Package guard protects a page that one program serves to one person on the loopback
// interface, as ccm studio does. Any page in the person's browser can send requests to its port,
// and so can the other users of the machine.
//
// A [Guard] stands before all routes, a [Login] exchanges the token of the printed address for a
// session, and [NewServer] limits connections.
package guard

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
)

// MaxBody is the most bytes of the body of a request.
const MaxBody = 8 << 20

// Limits of one page's plausible requests.
const (
	maxHeader     = 16 << 10
	headerTimeout = 5 * time.Second
	bodyTimeout   = 30 * time.Second
	idleTimeout   = 2 * time.Minute
)

// NewServer returns a server that limits the headers of requests and the time for them, and does
// not log, because strangers' requests are not the user's business.
func NewServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: log.New(io.Discard, "", 0),
	}
}

// A Guard protects all routes: it sets the headers of each answer, and refuses requests that
// do not come from our own page. Paths below /api/ need a session as well.
type Guard struct {
	// Origin is the page's origin in browsers, such as http://127.0.0.1:41873, or
	// https://ccm.example.org behind a proxy that keeps the Host of requests.
	Origin string
	Login  *Login
	Next   http.Handler
}

type nonceKey struct{}

// Nonce returns the nonce of the answer, for style sheets that scripts make.
func Nonce(ctx context.Context) string {
	nonce, _ := ctx.Value(nonceKey{}).(string)
	return nonce
}

// ServeHTTP implements http.Handler.
func (g *Guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	nonce := RandomText(16)
	setHeaders(w.Header(), nonce)
	if code, f := g.refuse(r); code != 0 {
		w.Header().Set("Connection", "close") // its body is not read
		Reply(w, code, f)
		return
	}
	if r.Method == http.MethodPost {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTimeout)) // recorders of tests have none
		r.Body = http.MaxBytesReader(w, r.Body, MaxBody)
	}
	g.Next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), nonceKey{}, nonce)))
}

// setHeaders sets the headers of every answer, errors too.
func setHeaders(h http.Header, nonce string) {
	for name, value := range map[string]string{
		"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-" + nonce + "'; img-src 'self' data:; " +
			"connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
			"require-trusted-types-for 'script'; trusted-types 'none'",
		"X-Content-Type-Options":       "nosniff",
		"X-Frame-Options":              "DENY",
		"Referrer-Policy":              "no-referrer",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Cross-Origin-Embedder-Policy": "require-corp",
		"Permissions-Policy":           "camera=(), geolocation=(), microphone=(), usb=()",
		"Cache-Control":                "no-store",
	} {
		h.Set(name, value)
	}
}

// refuse returns the status and the reason of a refusal, status 0 for a request that is allowed.
func (g *Guard) refuse(r *http.Request) (int, Refusal) {
	switch {
	case !isPlainPath(r.RequestURI):
		return http.StatusBadRequest, Refusal{Error: "unknown path"}
	case r.Host != g.host():
		// DNS rebinding: the name of another site leads here.
		return http.StatusMisdirectedRequest, Refusal{Error: fmt.Sprintf("this is %s, the request is for %q", g.host(), r.Host), Hint: "use the address that " + g.Login.Program + " printed; a proxy must keep the Host header"}
	case !g.isOurOrigin(r):
		return http.StatusForbidden, Refusal{Error: "the request comes from another page"}
	case r.Method != http.MethodGet && r.Method != http.MethodPost:
		if r.Method == http.MethodOptions { // a browser asks for another page: refused
			return http.StatusForbidden, Refusal{Error: "requests from other pages are not allowed"}
		}
		return http.StatusMethodNotAllowed, Refusal{Error: diag.Expected("GET or POST").Error()}
	case strings.HasPrefix(r.URL.Path, "/api/") && !g.Login.has(r):
		return http.StatusUnauthorized, Refusal{Error: "not logged in", Hint: g.Login.where()}
	}
	if r.Method == http.MethodPost {
		if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
			return http.StatusUnsupportedMediaType, Refusal{Error: diag.Expected("a body of type application/json").Error()}
		}
		if r.ContentLength > MaxBody { // a body without a length is read up to the limit
			return http.StatusRequestEntityTooLarge, Refusal{Error: "the request is too large", Code: "limit"}
		}
	}
	return 0, Refusal{}
}

// host returns the address and the port of the page, or its name.
func (g *Guard) host() string {
	_, host, _ := strings.Cut(g.Origin, "://")
	return host
}

// isOurOrigin reports whether a request comes from our page, or from a person who typed the
// address or followed a link to it.
func (g *Guard) isOurOrigin(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) > 1 || len(origins) == 1 && origins[0] != g.Origin {
		return false
	}
	if len(origins) == 0 && r.Method == http.MethodPost {
		return false
	}
	switch sites := r.Header.Values("Sec-Fetch-Site"); {
	case len(sites) == 0: // no browser, or an old one: the session and the origin decide
		return true
	case len(sites) == 1 && (sites[0] == "same-origin" || sites[0] == "none"):
		return true
	}
	// The file that opens the browser leads to the page from elsewhere, as links do. The page
	// without a session shows nothing, and no other page can frame it or keep hold of it.
	return r.Method == http.MethodGet && r.RequestURI == "/" &&
		r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// isPlainPath reports whether the path of a request has our own spelling. Others are refused rather
// than cleaned, because a later handler might clean them differently.
func isPlainPath(uri string) bool {
	path, query, _ := strings.Cut(uri, "?")
	if !strings.HasPrefix(path, "/") || strings.Contains(path, "//") || strings.Contains(path, "..") {
		return false
	}
	for _, c := range []byte(path) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("/._-", c) >= 0:
		default: // %, a backslash, a control character
			return false
		}
	}
	return !slices.Contains(strings.Split(path, "/"), ".") && !strings.Contains(strings.ToLower(query), "%00")
}

// RandomText returns n random bytes as hexadecimal digits.
func RandomText(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails (Go 1.24)
	return hex.EncodeToString(b)
}
