package testsystem

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestPackageCache: packages are downloaded once, also parts of them are served; everything else, and what was not
// complete, is downloaded each time. What is too old is removed.
func TestPackageCache(t *testing.T) {
	var mu sync.Mutex
	requests := make(map[string]int)
	there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		requests[r.URL.Path]++
		n := requests[r.URL.Path]
		mu.Unlock()
		switch r.URL.Path {
		case "/pool/torn.deb":
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "half")
		case "/pool/none.deb":
			http.NotFound(w, r)
		case "/pool/chunked.rpm":
			_ = http.NewResponseController(w).Flush()
			_, _ = io.WriteString(w, "of unknown length")
		default:
			_, _ = fmt.Fprintf(w, "content %d of %s", n, r.URL.Path)
		}
	}))
	defer there.Close()
	dir := t.TempDir()
	start := func(oldest time.Time) (get func(path string, header ...string) string) {
		c, err := newPackageCache(dir, oldest)
		require.NoError(t, err)
		proxy := httptest.NewServer(c)
		t.Cleanup(proxy.Close)
		at, err := url.Parse(proxy.URL)
		require.NoError(t, err)
		client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(at)}}
		return func(path string, header ...string) string {
			t.Helper()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, there.URL+path, nil)
			require.NoError(t, err)
			if len(header) > 0 {
				r.Header.Set(header[0], header[1])
			}
			answer, err := client.Do(r)
			if err != nil {
				return "closed"
			}
			defer answer.Body.Close()
			text, _ := io.ReadAll(answer.Body)
			return fmt.Sprint(answer.StatusCode, " ", string(text))
		}
	}
	get := start(time.Time{})
	for _, path := range []string{
		"/pool/a_1.0_all.deb", "/x86_64/a-1.0.rpm", "/dists/12/by-hash/SHA256/01ef",
		"/repodata/0123456789012345678901234567890123456789012345678901234567890123-primary.xml.gz",
	} {
		for range 3 {
			require.Equal(t, "200 content 1 of "+path, get(path))
		}
	}
	require.Equal(t, "206 content", get("/pool/a_1.0_all.deb", "Range", "bytes=0-6"))
	require.Equal(t, "200 content 2 of /pool/a_1.0_all.deb", get("/pool/a_1.0_all.deb", "Authorization", "Bearer of another"))
	for n, path := range []string{"/dists/12/InRelease", "/pool/private.deb?token=1"} {
		require.Contains(t, get(path), "content 1", n)
		require.Contains(t, get(path), "content 2", n)
	}
	for range 2 {
		require.Equal(t, "closed", get("/pool/torn.deb"))
		require.Equal(t, "404 404 page not found\n", get("/pool/none.deb"))
		require.Equal(t, "200 of unknown length", get("/pool/chunked.rpm"))
	}
	mu.Lock()
	require.GreaterOrEqual(t, requests["/pool/torn.deb"], 2) // the client tries again
	require.Equal(t, []int{2, 2}, []int{requests["/pool/none.deb"], requests["/pool/chunked.rpm"]})
	mu.Unlock()

	kept, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	require.Len(t, kept, 4)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 4, "parts of files are left")
	get = start(time.Now().Add(-time.Hour))
	require.Equal(t, "200 content 1 of /x86_64/a-1.0.rpm", get("/x86_64/a-1.0.rpm"))
	get = start(time.Now().Add(time.Hour))
	require.Equal(t, "200 content 2 of /x86_64/a-1.0.rpm", get("/x86_64/a-1.0.rpm"))
}
