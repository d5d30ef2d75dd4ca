package studio

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"mime"
	"net/http"
	"strings"
	"time"
)

// Limits of what is believed to come from one page.
const (
	maxBody       = 8 << 20
	maxHeader     = 16 << 10
	headerTimeout = 5 * time.Second
	bodyTimeout   = 30 * time.Second
	idleTimeout   = 2 * time.Minute
)

// A guard stands before all routes: each answer has its headers, and what does not come from
// our own page is refused. Any page in the user's browser can send requests to this port, and
// so can the other users of the machine.
type guard struct {
	host  string // as the page is named: an address and a port
	login *login
	next  http.Handler
}

type nonceKey struct{}

// nonceOf returns the nonce of the answer: style sheets that scripts make carry it.
func nonceOf(ctx context.Context) string {
	nonce, _ := ctx.Value(nonceKey{}).(string)
	return nonce
}

// ServeHTTP implements http.Handler.
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	nonce := randomText(16)
	setHeaders(w.Header(), nonce)
	if code, f := g.refuse(r); code != 0 {
		w.Header().Set("Connection", "close") // its body is not read
		fail(w, code, f)
		return
	}
	if r.Method == http.MethodPost {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTimeout)) // recorders of tests have none
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	}
	g.next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), nonceKey{}, nonce)))
}

// setHeaders sets what every answer has, errors too.
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

// refuse returns the status with which a request is refused, 0 if it is not, and why.
func (g *guard) refuse(r *http.Request) (int, Failure) {
	switch {
	case !isPlainPath(r.RequestURI):
		return http.StatusBadRequest, Failure{Error: "the path of the address is none of ours"}
	case r.Host != g.host:
		// DNS rebinding: the name of another site leads here.
		return http.StatusMisdirectedRequest, Failure{Error: "this is " + g.host, Hint: "use the address that ccm studio printed"}
	case !g.isOurOrigin(r):
		return http.StatusForbidden, Failure{Error: "the request comes from another page"}
	case r.Method != http.MethodGet && r.Method != http.MethodPost:
		if r.Method == http.MethodOptions { // a browser asks for another page: the answer is no
			return http.StatusForbidden, Failure{Error: "no other page may ask"}
		}
		return http.StatusMethodNotAllowed, Failure{Error: "want GET or POST"}
	case strings.HasPrefix(r.URL.Path, "/api/") && !g.login.has(r):
		return http.StatusUnauthorized, Failure{Error: "not logged in", Hint: "open the address that ccm studio printed"}
	}
	if r.Method == http.MethodPost {
		if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
			return http.StatusUnsupportedMediaType, Failure{Error: "want a body of type application/json"}
		}
		if r.ContentLength > maxBody { // one without a length is read so far
			return http.StatusRequestEntityTooLarge, Failure{Error: "the request: it is too large", Code: "limit"}
		}
	}
	return 0, Failure{}
}

// isOurOrigin reports whether a request comes from our page, or from a person who typed the
// address or followed a link to it.
func (g *guard) isOurOrigin(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) > 1 || len(origins) == 1 && origins[0] != "http://"+g.host {
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

// isPlainPath reports whether the path of a request is written as we write it. Others are
// refused instead of cleaned: who cleans them otherwise than somebody behind is fooled.
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
	for _, part := range strings.Split(path, "/") {
		if part == "." {
			return false
		}
	}
	return !strings.Contains(strings.ToLower(query), "%00")
}

// randomText returns n random bytes as hexadecimal digits.
func randomText(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // it never fails (Go 1.24)
	return hex.EncodeToString(b)
}
