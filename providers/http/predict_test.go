package http

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/safepath"
)

// TestUnknownServer: a plan warns of a server that the resolver does not know. It asks for each name once, and neither for
// addresses nor before an earlier resource changes /etc/hosts.
func TestUnknownServer(t *testing.T) {
	for _, name := range []string{"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"} {
		t.Setenv(name, "")
	}
	var asked []string
	options := host.Options{Root: t.TempDir(), Runner: &hosttest.Runner{}, Lookup: func(ctx context.Context, name string) ([]string, error) {
		_, limited := ctx.Deadline()
		require.True(t, limited)
		asked = append(asked, name)
		switch name {
		case "known.example.org":
			return []string{"192.0.2.1"}, nil
		case "later.example.org":
			return nil, &net.DNSError{Err: "no answer", Name: name, IsTimeout: true}
		}
		return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	}}
	predict := func(v *host.View, url string) string {
		want := resources.Archive{Name: "/a.tar.gz"}
		require.NoError(t, want.URL.UnmarshalText([]byte(url)))
		caveat, err := archives{}.Predict(t.Context(), v, want)
		require.NoError(t, err)
		return caveat
	}
	h := host.New(options)
	v := h.Planning(t.Context())
	for _, tt := range []struct{ url, want string }{
		{"https://nosuch.example.org/a.tar.gz", "the resolver does not know nosuch.example.org"},
		{"https://nosuch.example.org:8443/b.tar.gz", "the resolver does not know nosuch.example.org"},
		{"https://known.example.org/a.tar.gz", ""},
		{"https://later.example.org/a.tar.gz", ""},
		{"http://192.0.2.1/a.tar.gz", ""},
		{"http://[2001:db8::1]:80/a.tar.gz", ""},
	} {
		require.Equal(t, tt.want, predict(v, tt.url), tt.url)
	}
	require.Equal(t, []string{"nosuch.example.org", "known.example.org", "later.example.org"}, asked)
	require.Empty(t, predict(&h.View, "https://other.example.org/a.tar.gz"), "a run finds out")

	v.Overlay().Assume(1, false, overlay.PathEffect{Path: "/etc/hosts", Kind: safepath.Regular})
	require.Empty(t, predict(v, "https://nosuch.example.org/a.tar.gz"))
	require.Len(t, asked, 3)
}

// TestAskSize: a plan asks the server of an archive once for its size, with the credentials of the download, and fails if
// the size is known to be too large.
func TestAskSize(t *testing.T) {
	var asked []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, password, _ := r.BasicAuth()
		asked = append(asked, r.Method+" "+r.URL.Path+" "+password)
		switch r.URL.Path {
		case "/large.tar.gz":
			w.Header().Set("Content-Length", "5000")
		case "/refused.tar.gz":
			w.WriteHeader(http.StatusMethodNotAllowed)
		case "/moved.tar.gz":
			http.Redirect(w, r, "/large.tar.gz", http.StatusFound)
		}
	}))
	defer srv.Close()
	predict := func(v *host.View, file string) error {
		want := resources.Archive{Name: "/" + file, MaxDownload: 4999, Username: "ada", Password: "pw"}
		require.NoError(t, want.URL.UnmarshalText([]byte(srv.URL+"/"+file)))
		_, err := archives{}.Predict(t.Context(), v, want)
		return err
	}
	h := host.New(host.Options{Root: t.TempDir(), Runner: &hosttest.Runner{}})
	v := h.Planning(t.Context())
	for range 2 {
		require.EqualError(t, predict(v, "large.tar.gz"), "HEAD "+srv.URL+"/large.tar.gz: response of 4.9 KiB exceeds the limit of 4.9 KiB (raise it with max_download)")
		require.NoError(t, predict(v, "refused.tar.gz"), "a server may refuse HEAD")
	}
	require.Equal(t, []string{"HEAD /large.tar.gz pw", "HEAD /refused.tar.gz pw"}, asked)
	require.ErrorContains(t, predict(v, "moved.tar.gz"), "exceeds the limit")

	asked = nil
	require.NoError(t, predict(&h.View, "large.tar.gz"), "a run finds out")
	h = host.New(host.Options{Root: t.TempDir(), Runner: &hosttest.Runner{}, AskNoServers: true})
	require.NoError(t, predict(h.Planning(t.Context()), "large.tar.gz"))
	require.Empty(t, asked)
}
