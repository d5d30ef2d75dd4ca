package studio

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/site"
	"github.com/luaccm/ccm/studio/guard"
)

// allocated is what a child process allocates.
var allocated []byte

// TestMain lets the program of the tests be the child process of evaluations.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		messages := &site.Messages{W: terminal.NewWriter(io.Discard)}
		p := &site.Process{Clock: host.RealClock{}, Messages: messages, Files: &site.Files{Messages: messages}, Version: "1.2.3"}
		if os.Args[1] == "allocate" && limitMemory(4*checkMemory) == nil {
			allocated = make([]byte, 16*checkMemory)
		}
		if os.Args[1] != EvaluateCommand || Evaluate(context.Background(), p, os.Stdin, os.Stdout) != nil {
			os.Exit(1) // plans fail
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// open starts studio on a directory with files.
func open(t testing.TB, dir string, files map[string]string) *Server {
	t.Helper()
	writeFiles(t, dir, files)
	t.Chdir(dir)
	m := &site.Messages{W: terminal.NewWriter(io.Discard)}
	p := &site.Process{Clock: host.RealClock{}, Messages: m, Files: &site.Files{Messages: m, AllowInsecure: true}, Version: "1.2.3"}
	s, err := Open(t.Context(), Options{
		Process: p, Site: site.Options{Root: "/", Data: site.DataOptions{None: true}}, Listen: "127.0.0.1:0",
		StateDir: filepath.Join(filepath.Dir(dir), "state"), Directory: dir, Program: os.Args[0],
	})
	require.NoError(t, err)
	t.Cleanup(s.close)
	return s
}

func writeFiles(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
}

// siteDir returns a new directory, with a separate state directory beside it.
func siteDir(t testing.TB) string {
	dir := filepath.Join(t.TempDir(), "site")
	require.NoError(t, os.Mkdir(dir, 0o755))
	return dir
}

// A visitor sends requests as a page does.
type visitor struct {
	t      testing.TB
	s      *Server
	h      http.Handler
	cookie *http.Cookie
}

// visit returns a visitor who is logged in.
func visit(t testing.TB, s *Server) *visitor {
	v := &visitor{t: t, s: s, h: s.handler()}
	_, token, _ := strings.Cut(s.Address(), "#token=")
	w := v.send(v.request("POST", "/login", `{"token":"`+token+`"}`))
	require.Equal(t, http.StatusNoContent, w.Code, w.Body)
	v.cookie = w.Result().Cookies()[0]
	return v
}

// request returns a request as the page sends it.
func (v *visitor) request(method, path, body string) *http.Request {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = v.s.Host
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if method == "POST" {
		r.Header.Set("Origin", "http://"+v.s.Host)
		r.Header.Set("Content-Type", "application/json")
	}
	if v.cookie != nil {
		r.AddCookie(v.cookie)
	}
	return r
}

func (v *visitor) send(r *http.Request) *httptest.ResponseRecorder {
	ctx, cancel := context.WithTimeout(r.Context(), 10*time.Second)
	defer cancel()
	if strings.HasPrefix(r.URL.Path, "/api/events") { // it ends only when the page disconnects
		ended, end := context.WithCancel(ctx)
		end()
		ctx = ended
	}
	w := httptest.NewRecorder()
	v.h.ServeHTTP(w, r.WithContext(ctx))
	return w
}

var pageHeaders = map[string]string{
	"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
	"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp",
	"Permissions-Policy": "camera=(), geolocation=(), microphone=(), usb=()", "Cache-Control": "no-store",
}

func checkHeaders(t *testing.T, h http.Header) {
	t.Helper()
	for name, value := range pageHeaders {
		require.Equal(t, []string{value}, h.Values(name), name)
	}
	require.Regexp(t, `^default-src 'none'; script-src 'self'; style-src 'self' 'nonce-[0-9a-f]{32}'; img-src 'self' data:; connect-src 'self'; `+
		`font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'$`,
		h.Get("Content-Security-Policy"))
	for name := range h {
		require.NotContains(t, name, "Access-Control")
	}
}

// TestGuard: each route refuses requests that do not come from its own page.
func TestGuard(t *testing.T) {
	s := open(t, siteDir(t), map[string]string{"site.yaml": "ccm:\n  resources: []\n"})
	v := visit(t, s)
	s.quit = func() {}
	other := &http.Cookie{Name: v.cookie.Name, Value: strings.Repeat("0", 64)}
	for _, route := range s.routes() {
		path := strings.ReplaceAll(route.path, "{id}", "x")
		request := func() *http.Request { return v.request(route.method, path, "{}") }
		for name, x := range map[string]struct {
			change func(r *http.Request)
			status int
			api    bool // only for these routes
			post   bool
		}{
			"another name of the host":         {change: func(r *http.Request) { r.Host = strings.Replace(s.Host, "127.0.0.1", "localhost", 1) }, status: 421},
			"a name that was rebound":          {change: func(r *http.Request) { r.Host = "evil.example" }, status: 421},
			"another port":                     {change: func(r *http.Request) { r.Host = "127.0.0.1:1" }, status: 421},
			"no host":                          {change: func(r *http.Request) { r.Host = "" }, status: 421},
			"another origin":                   {change: func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, status: 403},
			"another scheme":                   {change: func(r *http.Request) { r.Header.Set("Origin", "https://"+s.Host) }, status: 403},
			"no origin in words":               {change: func(r *http.Request) { r.Header.Set("Origin", "null") }, status: 403},
			"two origins":                      {change: func(r *http.Request) { r.Header["Origin"] = []string{"http://" + s.Host, "http://evil.example"} }, status: 403},
			"no origin":                        {change: func(r *http.Request) { r.Header.Del("Origin") }, status: 403, post: true},
			"another site":                     {change: func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, status: 403},
			"another port of the site":         {change: func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, status: 403},
			"OPTIONS":                          {change: func(r *http.Request) { r.Method = "OPTIONS" }, status: 403},
			"PUT":                              {change: func(r *http.Request) { r.Method = "PUT" }, status: 405},
			"DELETE":                           {change: func(r *http.Request) { r.Method = "DELETE" }, status: 405},
			"HEAD":                             {change: func(r *http.Request) { r.Method = "HEAD" }, status: 405},
			"no session":                       {change: func(r *http.Request) { r.Header.Del("Cookie") }, status: 401, api: true},
			"a wrong session":                  {change: func(r *http.Request) { r.Header.Del("Cookie"); r.AddCookie(other) }, status: 401, api: true},
			"the session of a port":            {change: func(r *http.Request) { r.Header.Set("Cookie", "ccm-studio-1="+v.cookie.Value) }, status: 401, api: true},
			"a form":                           {change: func(r *http.Request) { r.Header.Set("Content-Type", "application/x-www-form-urlencoded") }, status: 415, post: true},
			"text":                             {change: func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, status: 415, post: true},
			"no type":                          {change: func(r *http.Request) { r.Header.Del("Content-Type") }, status: 415, post: true},
			"no JSON":                          {change: func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader("{")) }, status: 400, post: true},
			"two values":                       {change: func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader("{}{}")) }, status: 400, post: true},
			"a field that does not exist":      {change: func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader(`{"evil":1}`)) }, status: 400, post: true},
			"a body that says to be too large": {change: func(r *http.Request) { r.ContentLength = guard.MaxBody + 1 }, status: 413, post: true},
			"a body that is too large": {change: func(r *http.Request) {
				r.ContentLength = -1
				r.Body = io.NopCloser(io.MultiReader(strings.NewReader(`{"file":"`), io.LimitReader(letters{}, guard.MaxBody)))
			}, status: 413, post: true},
		} {
			if x.api && !strings.HasPrefix(path, "/api/") || x.post && route.method != "POST" {
				continue
			}
			if name == "a body that is too large" && path != "/api/text" && path != "/login" {
				continue // it would block
			}
			r := request()
			x.change(r)
			w := v.send(r)
			require.Equal(t, x.status, w.Code, "%s %s: %s: %s", route.method, path, name, w.Body)
			checkHeaders(t, w.Header())
		}
		if path == "/login" { // see TestLogin
			continue
		}
		w := v.send(request())
		if !strings.Contains(w.Body.String(), `"code":"untrusted"`) {
			require.NotContains(t, []int{401, 403, 405, 415, 421}, w.Code, "%s %s: %s", route.method, path, w.Body)
		}
		checkHeaders(t, w.Header())
		if !hasRoute(s, otherMethod(route.method), route.path) {
			require.Equal(t, 404, v.send(v.request(otherMethod(route.method), path, "{}")).Code, path)
		}
	}
}

func hasRoute(s *Server, method, path string) bool {
	for _, r := range s.routes() {
		if r.method == method && r.path == path {
			return true
		}
	}
	return false
}

func otherMethod(method string) string {
	if method == "GET" {
		return "POST"
	}
	return "GET"
}

// letters is an endless text.
type letters struct{}

// Read implements io.Reader.
func (letters) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'a'
	}
	return len(b), nil
}

// TestPaths: a path is used as it is written, or refused.
func TestPaths(t *testing.T) {
	v := visit(t, open(t, siteDir(t), nil))
	for _, path := range []string{
		"/../etc/passwd", "/..", "/a/../b", "/%2e%2e/x", "/..%2fx", "/a%2fb", "/a%00", "/a%5cb", `/a\b`, "//", "//evil.example/", "/api//state", "/./x", "/a/.",
		"/api/state?file=a%00b", "*", "http://evil.example/", "/ä", "/a b", "/a;b", "/a%0d%0ab",
	} {
		r := v.request("GET", "/", "")
		r.RequestURI = path
		w := v.send(r)
		require.Equal(t, 400, w.Code, path)
		checkHeaders(t, w.Header())
	}
	for _, path := range []string{"/nothing", "/app.css.gz", "/vendor", "/api/nothing", "/index.go", "/web/index.html"} {
		require.Equal(t, 404, v.send(v.request("GET", path, "")).Code, path)
	}
	for _, path := range []string{"/", "/app.css", "/index.html"} {
		require.Equal(t, 200, v.send(v.request("GET", path, "")).Code, path)
	}
}

// TestNavigation: a link from another page can lead to the start page only.
func TestNavigation(t *testing.T) {
	v := visit(t, open(t, siteDir(t), nil))
	for path, status := range map[string]int{"/": 200, "/?x": 403, "/app.css": 403, "/api/session": 403} {
		r := v.request("GET", path, "")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		r.Header.Set("Sec-Fetch-Mode", "navigate")
		r.Header.Set("Sec-Fetch-Dest", "document")
		require.Equal(t, status, v.send(r).Code, path)
		r.Header.Set("Sec-Fetch-Dest", "iframe")
		require.Equal(t, 403, v.send(r).Code, path)
	}
}
