package agent

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/bundle"
	"github.com/luaccm/ccm/test/tally"
)

// Variables for the test binary as another process: it polls a source, and exits at the effect with the given number.
const (
	killVariable = "CCM_TEST_KILL_AT"
	pollVariable = "CCM_TEST_POLL"
)

func TestMain(m *testing.M) {
	if at, err := strconv.Atoi(os.Getenv(killVariable)); err == nil {
		pollAndDie(at)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func pollAndDie(at int) {
	dir, address, _ := strings.Cut(os.Getenv(pollVariable), " ")
	x, err := newAccess(dir, func(string, string) error {
		if at--; at == 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		return nil
	})
	if err == nil {
		var s Source
		if s, err = x.newSource(sourceOf(address)); err == nil {
			_, err = s.Poll(context.Background())
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// sourceOf returns the configuration of a source, given a URL or git:REPOSITORY.
func sourceOf(address string) SourceConfig {
	if repo, ok := strings.CutPrefix(address, "git:"); ok {
		return SourceConfig{Git: repo, Ref: "main"}
	}
	return SourceConfig{URL: address}
}

func newAccess(dir string, effect func(op, path string) error) (*access, error) {
	store, err := openStore(dir, effect)
	return &access{store: store, now: time.Now}, err
}

func testAccess(t testing.TB) *access {
	x, err := newAccess(t.TempDir(), nil)
	require.NoError(t, err)
	return x
}

// packFolder returns a bundle with these files.
func packFolder(t testing.TB, files map[string]string) []byte {
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	var b bytes.Buffer
	_, err := bundle.Write(t.Context(), &b, bundle.Folder{Dir: dir, Limits: bundle.DefaultLimits})
	require.NoError(t, err)
	return b.Bytes()
}

// A server serves content by path with ETags, and counts responses.
type server struct {
	*httptest.Server
	content map[string][]byte
	tag     string // suffix of all ETags
	body    atomic.Int64
	asked   atomic.Int64
}

func newServer(t testing.TB) *server {
	s := &server{content: make(map[string][]byte)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		text, ok := s.content[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if r.URL.Path == "/closed.tar.gz" {
			if user, password, _ := r.BasicAuth(); user != "ann" || password != "secret" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
		}
		tag := `"` + fingerprint(string(text)) + s.tag + `"`
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		s.body.Add(1)
		_, _ = w.Write(text)
	}))
	t.Cleanup(s.Close)
	return s
}

// taken returns the content of a source's installed site.
func taken(t testing.TB, s Source) string {
	site, release, ok := s.Take()
	if !ok {
		return ""
	}
	defer release()
	text, err := os.ReadFile(site.Path)
	require.NoError(t, err)
	return string(text)
}

func TestHTTPSource(t *testing.T) {
	srv, x := newServer(t), testAccess(t)
	s, err := x.newSource(SourceConfig{URL: srv.URL + "/site.tar.gz"})
	require.NoError(t, err)
	_, err = s.Poll(t.Context())
	require.EqualError(t, err, "GET "+srv.URL+"/site.tar.gz: expected status 200, got 404 Not Found")
	require.Empty(t, taken(t, s))

	srv.content["/site.tar.gz"] = packFolder(t, map[string]string{"site.lua": "one", "files/a": "a"})
	changed, err := s.Poll(t.Context())
	require.NoError(t, err)
	require.True(t, changed)
	require.Equal(t, "one", taken(t, s))
	site, release, _ := s.Take()
	release()
	require.FileExists(t, filepath.Join(filepath.Dir(site.Path), "files/a"))
	require.True(t, strings.HasPrefix(site.Digest, "sha256:"))

	for range 3 {
		changed, err = s.Poll(t.Context())
		require.NoError(t, err)
		require.False(t, changed)
	}
	require.EqualValues(t, 1, srv.body.Load(), "the ETag is asked for")

	srv.tag = "x" // another ETag for the same content
	changed, err = s.Poll(t.Context())
	require.NoError(t, err)
	require.False(t, changed)
	require.EqualValues(t, 2, srv.body.Load())
	_, err = s.Poll(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 2, srv.body.Load(), "it is remembered")

	// A response that is not a bundle leaves the last good site, and so does an unreachable server.
	srv.content["/site.tar.gz"] = []byte("<html>maintenance</html>")
	_, err = s.Poll(t.Context())
	require.ErrorContains(t, err, "expected a bundle (.tar.gz), or a script or manifest named *.lua")
	srv.content["/site.tar.gz"] = packFolder(t, map[string]string{"site.lua": "x"})[:90]
	_, err = s.Poll(t.Context())
	require.Error(t, err)
	require.Equal(t, "one", taken(t, s))
	srv.Close()
	_, err = s.Poll(t.Context())
	require.Error(t, err)
	require.Equal(t, "one", taken(t, s))

	// The next agent finds the site on disk.
	y, err := newAccess(x.store.path, nil)
	require.NoError(t, err)
	s, err = y.newSource(SourceConfig{URL: srv.URL + "/site.tar.gz"})
	require.NoError(t, err)
	require.Equal(t, "one", taken(t, s))
}

func TestHTTPScriptAndAuthorization(t *testing.T) {
	srv, x := newServer(t), testAccess(t)
	srv.content["/site.lua"] = []byte("alone")
	srv.content["/closed.tar.gz"] = packFolder(t, map[string]string{"manifest.yaml": "m"})
	s, err := x.newSource(SourceConfig{URL: srv.URL + "/site.lua"})
	require.NoError(t, err)
	_, err = s.Poll(t.Context())
	require.NoError(t, err)
	require.Equal(t, "alone", taken(t, s))
	for user, want := range map[string]string{"ann:secret@": "", "ann:wrongpw@": "expected status 200, got 401 Unauthorized"} {
		s, err := x.newSource(SourceConfig{URL: strings.Replace(srv.URL, "://", "://"+user, 1) + "/closed.tar.gz"})
		require.NoError(t, err)
		require.NotContains(t, s.Name(), "ann")
		_, err = s.Poll(t.Context())
		if want == "" {
			require.NoError(t, err)
			require.Equal(t, "m", taken(t, s))
			continue
		}
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "wrongpw")
	}
	s, err = x.newSource(SourceConfig{URL: srv.URL + "/site.lua", SHA256: strings.Repeat("0", 64)})
	require.NoError(t, err)
	_, err = s.Poll(t.Context())
	require.ErrorContains(t, err, "expected the SHA-256 0000")
	require.Empty(t, taken(t, s))
}

// sign returns the signature of ssh-keygen for a text.
func sign(t testing.TB, key, namespace string, text []byte) []byte {
	cmd := exec.CommandContext(t.Context(), "ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", namespace)
	cmd.Stdin = bytes.NewReader(text)
	out, err := cmd.Output()
	require.NoError(t, err)
	return out
}

// newKey makes a key, and returns its file and its line for allowed_signers.
func newKey(t testing.TB, who string) (key, line string) {
	key = filepath.Join(t.TempDir(), who)
	require.NoError(t, exec.CommandContext(t.Context(), "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).Run())
	public, err := os.ReadFile(key + ".pub")
	require.NoError(t, err)
	return key, who + "@example.org " + string(public)
}

func TestSignedBundle(t *testing.T) {
	srv, x := newServer(t), testAccess(t)
	ann, annLine := newKey(t, "ann")
	eve, _ := newKey(t, "eve")
	signers := filepath.Join(t.TempDir(), "allowed_signers")
	require.NoError(t, os.WriteFile(signers, []byte(annLine), 0o644))
	s, err := x.newSource(SourceConfig{URL: srv.URL + "/site.tar.gz", Signers: signers})
	require.NoError(t, err)
	text := packFolder(t, map[string]string{"site.lua": "one"})
	srv.content["/site.tar.gz"] = text
	_, err = s.Poll(t.Context())
	require.ErrorContains(t, err, "signers requires a signature: GET "+srv.URL+"/site.tar.gz.sig: expected status 200, got 404")
	for name, signature := range map[string][]byte{
		"of somebody else": sign(t, eve, bundle.SignatureNamespace, text),
		"for another use":  sign(t, ann, "file", text),
		"of another text":  sign(t, ann, bundle.SignatureNamespace, []byte("x")),
		"no signature":     []byte("x"),
	} {
		srv.content["/site.tar.gz.sig"] = signature
		_, err = s.Poll(t.Context())
		require.Error(t, err, name)
		require.Empty(t, taken(t, s), name)
	}
	srv.content["/site.tar.gz.sig"] = sign(t, ann, bundle.SignatureNamespace, text)
	_, err = s.Poll(t.Context())
	require.NoError(t, err)
	site, release, _ := s.Take()
	release()
	require.True(t, strings.HasPrefix(site.Signer, "ann@example.org (SHA256:"), site.Signer)

	// A signer who was removed from the file can sign nothing new; the installed site stays.
	_, bobLine := newKey(t, "bob")
	require.NoError(t, os.WriteFile(signers, []byte(bobLine), 0o644))
	_, err = s.Poll(t.Context())
	require.ErrorContains(t, err, "is not allowed")
	require.Equal(t, "one", taken(t, s))
}

// Root refuses plain http unless the content is verified otherwise.
func TestPlainHTTP(t *testing.T) {
	x := testAccess(t)
	x.policy = rootPolicy()
	s, err := x.newSource(SourceConfig{URL: "http://127.0.0.1:1/site.tar.gz"})
	require.NoError(t, err)
	_, err = s.Poll(t.Context())
	require.EqualError(t, err, "not trusted as root: http is not protected against tampering (use https, set sha256 or signers, or set allow_insecure: true)")
	x.insecure = true
	_, err = s.Poll(t.Context())
	require.ErrorContains(t, err, "connection refused")
}

// The files of a version stay while a run uses them, and three versions are kept.
func TestVersions(t *testing.T) {
	srv, x := newServer(t), testAccess(t)
	s, err := x.newSource(SourceConfig{URL: srv.URL + "/site.tar.gz"})
	require.NoError(t, err)
	put := func(text string) {
		srv.content["/site.tar.gz"] = packFolder(t, map[string]string{"site.lua": text})
	}
	put("0")
	_, err = s.Poll(t.Context())
	require.NoError(t, err)
	site, release, _ := s.Take()
	put("1")
	polled := make(chan error)
	go func() {
		_, err := s.Poll(t.Context())
		polled <- err
	}()
	require.Eventually(t, func() bool { return srv.body.Load() == 2 }, time.Minute, time.Millisecond)
	text, err := os.ReadFile(site.Path)
	require.NoError(t, err)
	require.Equal(t, "0", string(text), "the run still has its files")
	release()
	require.NoError(t, <-polled)
	require.Equal(t, "1", taken(t, s))
	for i := range 6 {
		put(strconv.Itoa(i))
		_, err = s.Poll(t.Context())
		require.NoError(t, err)
		require.Equal(t, strconv.Itoa(i), taken(t, s))
	}
	list, err := filepath.Glob(filepath.Join(x.store.path, sourcesDir, "*", "*"))
	require.NoError(t, err)
	require.Len(t, list, keptCount+1, "%v", list)
}

// A failed write, as on a full disk, leaves the last good version.
func TestStepFails(t *testing.T) {
	srv := newServer(t)
	dir := t.TempDir()
	x, err := newAccess(dir, nil)
	require.NoError(t, err)
	s, err := x.newSource(SourceConfig{URL: srv.URL + "/site.tar.gz"})
	require.NoError(t, err)
	srv.content["/site.tar.gz"] = packFolder(t, map[string]string{"site.lua": "old"})
	_, err = s.Poll(t.Context())
	require.NoError(t, err)
	srv.content["/site.tar.gz"] = packFolder(t, map[string]string{"site.lua": "new"})
	for at := 1; ; at++ {
		left := at
		x.store.effect = func(string, string) error {
			if left--; left == 0 {
				return syscall.ENOSPC
			}
			return nil
		}
		_, err = s.Poll(t.Context())
		if left > 0 {
			require.NoError(t, err)
			break
		}
		require.ErrorIs(t, err, syscall.ENOSPC)
		require.Contains(t, []string{"old", "new"}, taken(t, s))
		if taken(t, s) == "new" { // only the removal of old versions failed
			break
		}
	}
	require.Equal(t, "new", taken(t, s))
}

// An agent that is killed at any step leaves either the old or the new version complete, and the next agent
// continues.
func TestKilledWhileFetching(t *testing.T) {
	if testing.Short() {
		t.Skip("ends the agent at each step: make test-all")
	}
	tries := tally.Of(t, "kills of the agent at each step of fetching, unpacking and replacing a site, by http and by git", "the old site or the new one is there, whole, nothing else is left, and the next agent brings the new one")
	srv := newServer(t)
	repo := newRepository(t)
	for _, address := range []string{srv.URL + "/site.tar.gz", "git:" + repo.dir} {
		put := func(text string) {
			srv.content["/site.tar.gz"] = packFolder(t, map[string]string{"site.lua": text, "files/large": strings.Repeat(text, 100_000)})
			repo.commit(map[string]string{"site.lua": text, "files/large": strings.Repeat(text, 100_000)})
		}
		for _, old := range []string{"", "old"} {
			for at := 1; ; at++ {
				dir := t.TempDir()
				if old != "" {
					put(old)
					require.NoError(t, pollOnce(dir, address))
				}
				put("new")
				cmd := exec.CommandContext(t.Context(), os.Args[0])
				cmd.Env = append(os.Environ(), killVariable+"="+strconv.Itoa(at), pollVariable+"="+dir+" "+address)
				out, err := cmd.CombinedOutput()
				if err == nil {
					require.Greater(t, at, 5)
					break
				}
				require.Equal(t, syscall.SIGKILL, cmd.ProcessState.Sys().(syscall.WaitStatus).Signal(), "%s", out)
				tries.Add(1)
				x, err := newAccess(dir, nil)
				require.NoError(t, err)
				s, err := x.newSource(sourceOf(address))
				require.NoError(t, err)
				have := taken(t, s)
				require.Contains(t, []string{old, "new"}, have, "step %d", at)
				if have != "" {
					site, release, _ := s.Take()
					text, err := os.ReadFile(filepath.Join(filepath.Dir(site.Path), "files/large"))
					release()
					require.NoError(t, err)
					require.Equal(t, strings.Repeat(have, 100_000), string(text))
				}
				_, err = s.Poll(t.Context())
				require.NoError(t, err)
				require.Equal(t, "new", taken(t, s))
				require.NoError(t, filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
					require.False(t, strings.HasSuffix(name, newSuffix), name)
					return err
				}))
			}
		}
	}
}

func pollOnce(dir, address string) error {
	x, err := newAccess(dir, nil)
	if err != nil {
		return err
	}
	s, err := x.newSource(sourceOf(address))
	if err != nil {
		return err
	}
	_, err = s.Poll(context.Background())
	return err
}
