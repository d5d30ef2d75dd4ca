package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// bundled makes a site and its bundle, and returns their directory.
func bundled(t *testing.T, files map[string]string) string {
	t.Helper()
	isolate(t)
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, "web", name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	_, stderr, status := ccm(t, nil, "bundle", filepath.Join(dir, "web"), "-o", filepath.Join(dir, "web.tar.gz"))
	require.Zero(t, status, stderr)
	return dir
}

var webSite = map[string]string{
	"site.lua": `file { "/motd", source = "x", owner = "root", group = "root", mode = "0644" }`, "x": "hello\n",
	"alone.lua": `exec { "x", command = "true" }`, "manifest.yaml": "ccm: {resources: [{exec: [{y: {command: \"true\"}}]}]}\n",
}

// TestURLs: the site at a URL is planned; credentials are sent to its server only.
func TestURLs(t *testing.T) {
	dir := bundled(t, webSite)
	files := http.StripPrefix("/files", http.FileServer(http.Dir(dir)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/files/"):
			files.ServeHTTP(w, r)
		case strings.HasPrefix(r.URL.Path, "/private/"):
			if user, password, _ := r.BasicAuth(); user != "ann" || password != "s3cret" {
				http.Error(w, "no", http.StatusUnauthorized)
				return
			}
			http.Redirect(w, r, "/files/web.tar.gz", http.StatusFound)
		case r.URL.Path == "/large":
			w.Header().Set("Content-Length", "2000000000")
		case r.URL.Path == "/text":
			_, _ = w.Write([]byte("ccm: {resources: [{exec: [{z: {command: \"true\"}}]}]}\n"))
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	plan := func(url string, args ...string) (string, string, int) {
		return ccm(t, nil, append([]string{"plan", "--root", t.TempDir(), "--allow-insecure", url}, args...)...)
	}
	for name, x := range map[string]struct {
		path, want string
	}{
		"a bundle":            {"/files/web.tar.gz", "file#/motd: Would have created the file (1 line"},
		"a query":             {"/files/web.tar.gz?v=1", "file#/motd: Would have created"},
		"a script":            {"/files/web/alone.lua", "exec#x: Would have executed"},
		"a manifest":          {"/files/web/manifest.yaml", "exec#y: Would have executed"},
		"a text without name": {"/text", "exec#z: Would have executed"},
	} {
		t.Run(name, func(t *testing.T) {
			out, stderr, status := plan(server.URL + x.path)
			require.Zero(t, status, stderr)
			require.Contains(t, out, x.want)
		})
	}
	private := strings.Replace(server.URL, "http://", "http://ann:s3cret@", 1) + "/private/web.tar.gz"
	out, stderr, status := plan(private)
	require.Zero(t, status, stderr)
	require.Contains(t, out, "file#/motd")
	saved := filepath.Join(t.TempDir(), "plan")
	out, stderr, status = plan(private, "--out", saved)
	require.Equal(t, 1, status)
	require.Contains(t, stderr, "--out: cannot save the plan: it contains the user and password of http://xxxxx@")
	require.Contains(t, stderr, "(download it, then plan the file)")
	require.NotContains(t, out+stderr, "s3cret")
	require.NoFileExists(t, saved)
	_, stderr, status = plan(server.URL+"/files/web.tar.gz", "--out", saved)
	require.Zero(t, status, stderr)
	require.FileExists(t, saved)
	_, stderr, status = plan(strings.Replace(private, "s3cret", "wr0ng", 1))
	require.Equal(t, 1, status)
	require.Contains(t, stderr, "expected status 200, got 401 Unauthorized")
	require.NotContains(t, stderr, "wr0ng")

	require.NoError(t, os.WriteFile(filepath.Join(dir, "web", "cut.tar.gz"), nil, 0o644))
	for path, want := range map[string]string{
		"/files/web/cut.tar.gz": "bundle is truncated",
		"/nothing":              "GET " + server.URL + "/nothing: expected status 200, got 404 Not Found",
		"/large":                "response of 1.9 GiB exceeds the limit of 1.0 GiB",
		"/files/web/nowhere":    "404",
		"/files/web/site.lua?":  "no such file", // its source is not on the server
	} {
		_, stderr, status := plan(server.URL + path)
		if path != "/files/web/site.lua?" {
			require.Equal(t, 1, status, path)
			require.Contains(t, stderr, want)
		}
	}
	_, stderr, status = plan(server.URL+"/files/web.tar.gz", "--sha256", strings.Repeat("0", 64))
	require.Equal(t, 1, status)
	require.Contains(t, stderr, server.URL+"/files/web.tar.gz: expected the SHA-256 0000")
	_, stderr, status = plan("https://")
	require.Equal(t, 1, status)
	require.Contains(t, stderr, `expected a URL such as https://example.org/site.tar.gz, got "https://"`)
	server.Close()
	_, stderr, status = plan(server.URL + "/files/web.tar.gz")
	require.Equal(t, 1, status)
	require.Contains(t, stderr, "connection refused")
	require.Empty(t, places(t), "nothing is left")
}

// places lists the cache of bundles.
func places(t *testing.T) []string {
	list, err := filepath.Glob(filepath.Join(os.Getenv("CCM_CACHE_DIR"), "bundles", "*"))
	require.NoError(t, err)
	return list
}

// TestPlainHTTPOfRoot: root refuses a site from plain http, which anybody on the network could have changed.
func TestPlainHTTPOfRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	dir := bundled(t, webSite)
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	for _, url := range []string{server.URL + "/web.tar.gz", server.URL + "/web/alone.lua"} {
		_, stderr, status := ccm(t, nil, "plan", "--root", t.TempDir(), url)
		require.Equal(t, 1, status)
		require.Equal(t, url+": not trusted as root: http is not protected against tampering (use https, --sha256, --signers or --allow-insecure)\n", stderr)
	}
	sum, err := exec.Command("sha256sum", filepath.Join(dir, "web.tar.gz")).Output()
	require.NoError(t, err)
	out, stderr, status := ccm(t, nil, "plan", "--root", t.TempDir(), server.URL+"/web.tar.gz", "--sha256", string(sum[:64]))
	require.Zero(t, status, stderr)
	require.Contains(t, out, "file#/motd")
}

// TestBundleOfOthers: root refuses a bundle that others may write.
func TestBundleOfOthers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	dir := bundled(t, webSite)
	file := filepath.Join(dir, "web.tar.gz")
	require.NoError(t, os.Chmod(file, 0o666))
	_, stderr, status := ccm(t, nil, "plan", "--root", t.TempDir(), file)
	require.Equal(t, 1, status)
	require.Contains(t, stderr, file+": not trusted as root: "+file)
	require.NoError(t, os.Chmod(filepath.Join(dir, "web", "x"), 0o666))
	_, stderr, status = ccm(t, nil, "bundle", filepath.Join(dir, "web"), "-o", filepath.Join(dir, "again.tar.gz"))
	require.Equal(t, 1, status)
	require.Contains(t, stderr, "not trusted as root")
	require.NoFileExists(t, filepath.Join(dir, "again.tar.gz"))

	// The directory for unpacking must belong to root.
	cache := filepath.Join(t.TempDir(), "cache")
	require.NoError(t, os.MkdirAll(filepath.Join(cache, "bundles"), 0o777))
	require.NoError(t, os.Chmod(filepath.Join(cache, "bundles"), 0o777))
	require.NoError(t, os.Chmod(file, 0o644))
	t.Setenv("CCM_CACHE_DIR", cache)
	_, stderr, status = ccm(t, nil, "plan", "--root", t.TempDir(), file)
	require.Equal(t, 1, status)
	require.Contains(t, stderr, "ccm: cache directory: ")
	require.Contains(t, stderr, "directory "+filepath.Join(cache, "bundles"))
}

// TestKilledInBundle: the next run removes the unpacked bundle of a killed run, and two runs at the same time have
// separate directories.
func TestKilledInBundle(t *testing.T) {
	dir := bundled(t, map[string]string{"site.lua": `exec { "wait", command = "touch " .. env.MARK .. "; exec sleep 60", provider = "shell" }`})
	mark := filepath.Join(dir, "mark")
	t.Setenv("MARK", mark)
	run := exec.Command("ccm", "run", filepath.Join(dir, "web.tar.gz"))
	var out bytes.Buffer
	run.Stdout, run.Stderr = &out, &out
	require.NoError(t, run.Start())
	t.Cleanup(func() { _ = run.Process.Kill(); _ = run.Wait() })
	for end := time.Now().Add(longEnough); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(mark); err == nil {
			break
		}
		require.True(t, time.Now().Before(end), "%s", &out)
	}
	require.Len(t, places(t), 1)
	_, stderr, status := ccm(t, nil, "plan", filepath.Join(dir, "web.tar.gz"))
	require.Zero(t, status, stderr)
	require.Len(t, places(t), 1, "the run that goes on keeps its own")
	require.NoError(t, run.Process.Signal(syscall.SIGKILL))
	_ = run.Wait()
	require.Len(t, places(t), 1)
	_, stderr, status = ccm(t, nil, "plan", filepath.Join(dir, "web.tar.gz"))
	require.Zero(t, status, stderr)
	require.Empty(t, places(t))
}

// A bundle that is written into the folder of its site equals one that is written elsewhere: ccm's own temporary file
// is not included.
func TestBundleIntoItsFolder(t *testing.T) {
	dir := bundled(t, webSite)
	t.Chdir(filepath.Join(dir, "web"))
	want, err := os.ReadFile("../web.tar.gz")
	require.NoError(t, err)
	for range 2 {
		_, stderr, status := ccm(t, nil, "bundle", ".")
		require.Zero(t, status, stderr)
		have, err := os.ReadFile("web.tar.gz")
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, have))
	}
}
