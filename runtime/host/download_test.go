package host_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/fetch"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/safepath"
)

func parse(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	require.NoError(t, err)
	return u
}

func serve(t *testing.T, handle http.HandlerFunc) *url.URL {
	t.Helper()
	srv := httptest.NewServer(handle)
	t.Cleanup(srv.Close)
	return parse(t, srv.URL+"/app.tar.gz")
}

func sum(s string) string {
	b := sha256.Sum256([]byte(s))
	return hex.EncodeToString(b[:])
}

// A failed download is an error, with the old file unchanged and no file beside it.
func TestDownloadFails(t *testing.T) {
	tests := []struct {
		name     string
		handle   http.HandlerFunc
		checksum string
		want     string
	}{
		{"HTTP non-200: error with status code", func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "gone", http.StatusNotFound)
		}, "", "expected status 200, got 404 Not Found"},
		{"server error", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
		}, "", "expected status 200, got 500 Internal Server Error"},
		{"no content", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNoContent)
		}, "", "expected status 200, got 204 No Content"},
		{"checksum mismatch: error with expected and actual", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "other")
		}, sum("new"), fmt.Sprintf("checksum mismatch, expected %q got %q", sum("new"), sum("other"))},
		{"truncated", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, "only this")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, "", "connection closed after 9 of 1000 bytes"},
		{"hangs up", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			"", "server closed the connection"},
		{"truncated without a length", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "only this")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, "", "connection closed after 9 bytes"},
		{"stalled in the middle", func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, "beginning")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, "", "timed out: nothing received for 50ms"},
		{"never answers", func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
		}, "", "timed out: nothing received for 50ms"},
		{"redirected for ever", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path+"x", http.StatusFound)
		}, "", "exceeds the limit of 10 redirects"},
		{"redirected to a file", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "file:///etc/passwd")
			w.WriteHeader(http.StatusFound)
		}, "", "cannot follow the redirect to file:///etc/passwd: expected http or https"},
		{"redirected nowhere", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusFound)
		}, "", "response with status 302 lacks a usable Location"},
		{"not modified", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotModified)
		}, "", "expected status 200, got 304 Not Modified"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u := serve(t, tt.handle)
			h, root := hosttest.New(t, nil)
			require.NoError(t, os.WriteFile(root+"/app.tar.gz", []byte("old"), 0o600))
			before := hosttest.Snapshot(t, root)
			d := fetch.Request{URL: u, Checksum: tt.checksum, Stall: time.Minute}
			if strings.Contains(tt.want, "50ms") {
				d.Stall = 50 * time.Millisecond
			}
			err := h.Download(t.Context(), "/app.tar.gz", me(), d)
			require.ErrorContains(t, err, tt.want)
			require.ErrorContains(t, err, "GET "+u.String())
			require.Equal(t, before, hosttest.Snapshot(t, root))
		})
	}
}

func TestDownloadCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	u := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "beginning")
		w.(http.Flusher).Flush()
		cancel()
		<-r.Context().Done()
	})
	h, root := hosttest.New(t, nil)
	require.ErrorIs(t, h.Download(ctx, "/app.tar.gz", me(), fetch.Request{URL: u}), context.Canceled)
	require.Empty(t, hosttest.Snapshot(t, root))
}

func TestDownload(t *testing.T) {
	var agent, accept string
	u := serve(t, func(w http.ResponseWriter, r *http.Request) {
		agent, accept = r.UserAgent(), r.Header.Get("Accept-Encoding")
		// A server declares an archive as compressed text: it is stored unchanged.
		w.Header().Set("Content-Encoding", "gzip")
		fmt.Fprint(w, "new")
	})
	h, root := hosttest.New(t, nil)
	require.NoError(t, os.WriteFile(root+"/app.tar.gz", []byte("old"), 0o600))
	require.NoError(t, h.Download(t.Context(), "/app.tar.gz", me(), fetch.Request{URL: u, Checksum: sum("new")}))
	require.Equal(t, map[string]string{
		"app.tar.gz": fmt.Sprintf("-rw-r----- %d:%d new", os.Geteuid(), os.Getegid()),
	}, hosttest.Snapshot(t, root))
	require.Equal(t, "ccm", agent)
	require.Empty(t, accept)
}

// A download is not visible before its end, so nothing is left if ccm dies. Where a file cannot be linked later, the
// data is copied to a file with a name.
func TestDownloadHasNoName(t *testing.T) {
	if !safepath.MakesUnnamed() {
		t.Skip("files have names from the start")
	}
	for name, x := range map[string]struct {
		old  bool
		fail string
	}{"new": {}, "replaced": {old: true}, "without links, new": {fail: "link"}, "without links, replaced": {old: true, fail: "link"}} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			if x.old {
				require.NoError(t, os.WriteFile(root+"/app.tar.gz", []byte("old"), 0o640))
			}
			before := hosttest.Snapshot(t, root)
			u := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "new") })
			linked := false
			h := host.New(host.Options{Root: root, Effect: func(op, _ string) error {
				if linked = linked || op == "link"; !linked {
					require.Equal(t, before, hosttest.Snapshot(t, root), op)
				}
				if op == x.fail {
					return syscall.EOPNOTSUPP
				}
				return nil
			}})
			require.NoError(t, h.Download(t.Context(), "/app.tar.gz", me(), fetch.Request{URL: u}))
			require.Equal(t, map[string]string{
				"app.tar.gz": fmt.Sprintf("-rw-r----- %d:%d new", os.Geteuid(), os.Getegid()),
			}, hosttest.Snapshot(t, root))
			require.True(t, linked)
		})
	}
}

// The owner is set before the data is written, and the checksum is verified before the file gets its name.
func TestDownloadOrderOfEffects(t *testing.T) {
	if !safepath.MakesUnnamed() {
		t.Skip("files have names from the start")
	}
	u := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "new") })
	var ops []string
	h := host.New(host.Options{Root: t.TempDir(), Effect: func(op, _ string) error {
		ops = append(ops, op)
		return nil
	}})
	attr := me()
	require.NoError(t, h.Download(t.Context(), "/app.tar.gz", attr, fetch.Request{URL: u}))
	require.Equal(t, []string{"download", "create", "chmod", "write", "sync", "link", "syncdir"}, ops)

	ops = nil
	require.Error(t, h.Download(t.Context(), "/app.tar.gz", attr, fetch.Request{URL: u, Checksum: sum("x")}))
	require.Equal(t, []string{"download", "create", "chmod", "write"}, ops)

	// After a failure of any effect the old file is there and no other.
	for n := 1; n <= 8; n++ {
		if n == 6 {
			continue // the link, for which there is another way
		}
		effect, _ := hosttest.Failing(n, 1)
		root := t.TempDir()
		require.NoError(t, os.WriteFile(root+"/app.tar.gz", []byte("old"), 0o600))
		h := host.New(host.Options{Root: root, Effect: effect})
		require.ErrorIs(t, h.Download(t.Context(), "/app.tar.gz", attr, fetch.Request{URL: u}), hosttest.ErrInjected)
		names, err := filepath.Glob(root + "/.*")
		require.NoError(t, err)
		require.Empty(t, names, "effect %d", n)
	}
}

// sink records the credentials in the requests to it.
type sink struct {
	got  atomic.Pointer[http.Header]
	then http.HandlerFunc
}

func (s *sink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := r.Header.Clone()
	s.got.Store(&head)
	s.then(w, r)
}

func TestDownloadAuthorization(t *testing.T) {
	basic := "Basic ZGVwbG95OnMzY3JldA==" // deploy:s3cret
	ok := func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "new") }
	other := &sink{then: ok}
	elsewhere := httptest.NewServer(other)
	defer elsewhere.Close()

	tests := []struct {
		name      string
		userinfo  bool
		redirect  func(own string) string // the target of /app.tar.gz
		wantOther bool                    // the other server gets a request
		wantAuth  bool                    // the credentials reach the final server
	}{
		{name: "username and password", wantAuth: true},
		{name: "user in the URL", userinfo: true, wantAuth: true},
		{name: "redirect on the same server", redirect: func(own string) string { return own + "/final.tar.gz" }, wantAuth: true},
		{name: "relative redirect, user in the URL", userinfo: true, redirect: func(string) string { return "final.tar.gz" }, wantAuth: true},
		{name: "redirect to another port", redirect: func(string) string { return elsewhere.URL + "/x" }, wantOther: true},
		{name: "redirect to another port, user in the URL", userinfo: true, redirect: func(string) string { return elsewhere.URL + "/x" }, wantOther: true},
		{name: "redirect to another name", redirect: func(own string) string {
			return strings.Replace(own, "127.0.0.1", "localhost", 1) + "/final.tar.gz"
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			other.got.Store(nil)
			var own *httptest.Server
			end := &sink{}
			end.then = func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/app.tar.gz" && tt.redirect != nil {
					http.Redirect(w, r, tt.redirect(own.URL), http.StatusFound)
					return
				}
				ok(w, r)
			}
			own = httptest.NewServer(end)
			defer own.Close()
			d := fetch.Request{URL: parse(t, own.URL+"/app.tar.gz"), Username: "deploy", Password: "s3cret", Header: map[string]string{"X-Api-Key": "k3y"}}
			if tt.userinfo {
				d.URL.User, d.Username, d.Password = url.UserPassword("deploy", "s3cret"), "", ""
			}
			h, _ := hosttest.New(t, nil)
			require.NoError(t, h.Download(t.Context(), "/app.tar.gz", me(), d))
			got := end.got.Load()
			if tt.wantOther {
				got = other.got.Load()
			}
			if tt.wantAuth {
				require.Equal(t, basic, got.Get("Authorization"))
				require.Equal(t, "k3y", got.Get("X-Api-Key"))
			} else {
				require.Empty(t, got.Get("Authorization"))
				require.Empty(t, got.Get("X-Api-Key"))
				require.Empty(t, got.Get("Referer"))
			}
		})
	}
}

// After a redirect to another server, a redirect back gets no credentials either.
func TestDownloadAuthorizationDoesNotComeBack(t *testing.T) {
	var own *httptest.Server
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, own.URL+"/final", http.StatusFound)
	}))
	defer elsewhere.Close()
	end := &sink{then: func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/final" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		http.Redirect(w, r, elsewhere.URL, http.StatusFound)
	}}
	own = httptest.NewServer(end)
	defer own.Close()
	h, _ := hosttest.New(t, nil)
	err := h.Download(t.Context(), "/a.zip", me(), fetch.Request{URL: parse(t, own.URL+"/a.zip"), Username: "deploy", Password: "s3cret"})
	require.EqualError(t, err, fmt.Sprintf("GET %s/a.zip: redirected to %s/final: expected status 200, got 401 Unauthorized "+
		"(credentials and headers are not sent to another server after a redirect)", own.URL, own.URL))
	require.Empty(t, end.got.Load().Get("Authorization"))
}

// roundTripper answers without a network.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestDownloadRedirectBetweenSchemes(t *testing.T) {
	tests := []struct {
		from, to string
		checksum string
		auth     bool // credentials are sent
		fails    string
	}{
		{"http://h.test/a", "https://h.test/a", "", true, ""},
		{"http://h.test:8080/a", "https://h.test/a", "", false, ""},
		{"http://h.test/a", "https://www.h.test/a", "", false, ""},
		{"https://h.test/a", "https://H.test:443/b", "", true, ""},
		{"https://h.test/a", "http://h.test/a", "", false, "cannot follow the redirect from https to http://h.test/a: not protected against tampering (set a checksum to allow it)"},
		{"https://h.test/a", "http://h.test/a", sum("new"), false, ""},
	}
	for _, tt := range tests {
		t.Run(tt.from+" to "+tt.to, func(t *testing.T) {
			var last *http.Request
			transport := roundTripper(func(r *http.Request) (*http.Response, error) {
				last = r
				rec := httptest.NewRecorder()
				if r.URL.String() == tt.from {
					rec.Header().Set("Location", tt.to)
					rec.WriteHeader(http.StatusMovedPermanently)
				} else {
					fmt.Fprint(rec, "new")
				}
				return rec.Result(), nil
			})
			h := host.New(host.Options{Root: t.TempDir(), Transport: transport})
			err := h.Download(t.Context(), "/a.zip", me(), fetch.Request{
				URL: parse(t, tt.from), Header: map[string]string{"authorization": "Bearer t0ken"}, Checksum: tt.checksum,
			})
			if tt.fails != "" {
				require.ErrorContains(t, err, tt.fails)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.auth, last.Header.Get("Authorization") != "")
		})
	}
}

// Credentials of a download are in no error and no log.
func TestDownloadKeepsSecrets(t *testing.T) {
	secrets := []string{"deploy", "s3cret", "k3y", "s1gnature", "elsewh3re", "ZGVwbG95OnMzY3JldA"}
	replies := map[string]http.HandlerFunc{
		"ok":        func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "new") },
		"forbidden": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) },
		"truncated": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			panic(http.ErrAbortHandler)
		},
		"dropped": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"redirected": func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/next" {
				w.WriteHeader(http.StatusGone)
				return
			}
			http.Redirect(w, r, "/next?token=elsewh3re", http.StatusFound)
		},
		"redirected badly": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://%zz/?token=elsewh3re")
			w.WriteHeader(http.StatusFound)
		},
		"redirected with a user": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "ftp://elsewh3re@h.test/")
			w.WriteHeader(http.StatusFound)
		},
	}
	for name, reply := range replies {
		t.Run(name, func(t *testing.T) {
			u := serve(t, reply)
			u.User, u.RawQuery = url.UserPassword("deploy", "s3cret"), "X-Signature=s1gnature"
			var log bytes.Buffer
			h := host.New(host.Options{Root: t.TempDir(), Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
			err := h.Download(t.Context(), "/app.tar.gz", me(), fetch.Request{URL: u, Header: map[string]string{"X-Api-Key": "k3y"}})
			require.Equal(t, name == "ok", err == nil)
			require.Contains(t, log.String(), "xxxxx@127.0.0.1")
			for _, s := range secrets {
				require.NotContains(t, log.String(), s)
				require.NotContains(t, fmt.Sprint(err), s)
			}
		})
	}
}

// tickingClock moves on by a fixed step at each call.
type tickingClock struct{ now time.Time }

func (c *tickingClock) Now() time.Time {
	c.now = c.now.Add(time.Second)
	return c.now
}

func TestDownloadProgress(t *testing.T) {
	u := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "2048")
		fmt.Fprint(w, strings.Repeat("x", 2048))
	})
	var told []host.Progress
	h := host.New(host.Options{Root: t.TempDir(), Clock: &tickingClock{}, Progress: func(p host.Progress) { told = append(told, p) }})
	require.NoError(t, h.Download(t.Context(), "/app.tar.gz", me(), fetch.Request{URL: u}))
	end := told[len(told)-1]
	require.Equal(t, "/app.tar.gz", end.Path)
	require.Equal(t, int64(2048), end.Bytes)
	require.Equal(t, int64(2048), end.Total)
	require.Positive(t, end.Rate)
}

func TestProgressString(t *testing.T) {
	for want, p := range map[string]host.Progress{
		"12.5 MiB of 40.0 MiB, 3.2 MiB/s": {Bytes: 25 << 19, Total: 40 << 20, Rate: 3.2 * (1 << 20)},
		"512 B":                           {Bytes: 512, Total: -1},
		"1.0 KiB of 1.0 KiB":              {Bytes: 1024, Total: 1024},
	} {
		require.Equal(t, want, p.String())
	}
}
