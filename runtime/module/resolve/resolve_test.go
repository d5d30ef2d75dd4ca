package resolve_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/command"
	"github.com/luaccm/ccm/runtime/host/fetch"
	"github.com/luaccm/ccm/runtime/module"
	"github.com/luaccm/ccm/runtime/module/resolve"
	"github.com/luaccm/ccm/runtime/trust"
)

// A repository is a git repository for tests.
type repository struct {
	t   *testing.T
	dir string
}

// TestMain removes the user's settings of git.
func TestMain(m *testing.M) {
	for k, v := range map[string]string{
		"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@example.org",
		"GIT_COMMITTER_NAME": "Ann", "GIT_COMMITTER_EMAIL": "ann@example.org",
	} {
		os.Setenv(k, v)
	}
	os.Exit(m.Run())
}

func newRepository(t *testing.T, dir string) *repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	require.NoError(t, os.MkdirAll(dir, 0o755))
	r := &repository{t, dir}
	r.git("init", "-q")
	return r
}

func (r *repository) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	out, err := cmd.CombinedOutput()
	require.NoError(r.t, err, "git %v: %s", args, out)
	return strings.TrimSpace(string(out))
}

// release commits files and tags the commit.
func (r *repository) release(tag string, files map[string]string) {
	r.t.Helper()
	write(r.t, r.dir, files)
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", tag)
	r.git("tag", tag)
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
}

// modFile returns a ccm.mod.lua of a module with dependencies, each as NAME VERSION ADDRESS.
func modFile(name string, dependencies ...string) string {
	text := fmt.Sprintf("return { name = %q, exports = { %q }, dependencies = {\n", name, name)
	for _, d := range dependencies {
		f := strings.Fields(d)
		text += fmt.Sprintf("  [%q] = { version = %q, git = %q },\n", f[0], f[1], f[2])
	}
	return text + "} }\n"
}

// A noNetwork refuses all requests.
type noNetwork struct{}

// RoundTrip implements http.RoundTripper.
func (noNetwork) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("there is no network")
}

func newResolver(cache string) *resolve.Resolver {
	return &resolve.Resolver{Host: host.New(host.Options{}), Transport: fetch.NewTransport(), Caches: []string{cache}, Version: "dev"}
}

func newCache(t *testing.T) string {
	t.Helper()
	cache := filepath.Join(t.TempDir(), "cache")
	t.Cleanup(func() { _ = exec.Command("chmod", "-R", "u+w", cache).Run() })
	return cache
}

func parse(t *testing.T, text string) *module.File {
	t.Helper()
	f, err := module.ParseFile("ccm.mod.lua", text)
	require.NoError(t, err)
	return f
}

func versions(lock *module.Lock) string {
	var list []string
	for i := range lock.Modules {
		list = append(list, lock.Modules[i].String())
	}
	return strings.Join(list, " ")
}

// A site depends on web and api, which depend on base at two versions: the greater one is chosen, not the newest. The
// same files give the same lock with another cache.
func TestMinimalVersions(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	address := func(name string) string { return "file://" + at + "/" + name }
	base := newRepository(t, at+"/base")
	for _, v := range []string{"v1.0.0", "v1.1.0", "1.2.0", "v1.3.0", "not-a-version"} {
		base.release(v, map[string]string{"ccm.mod.lua": modFile("base"), "lib/base.lua": "return '" + v + "'\n"})
	}
	web := newRepository(t, at+"/web")
	web.release("v1.0.0", map[string]string{"ccm.mod.lua": modFile("web", "base v1.1.0 "+address("base")), "web.lua": "return 1\n"})
	api := newRepository(t, at+"/api")
	api.release("v0.1.0", map[string]string{"ccm.mod.lua": modFile("api", "base v1.2.0 "+address("base")), "api/init.lua": "return 1\n"})
	site := parse(t, modFile("site", "web v1.0.0 "+address("web"), "api v0.1.0 "+address("api")))

	var texts []string
	for range 2 {
		lock, err := newResolver(newCache(t)).Lock(t.Context(), at, site, nil)
		require.NoError(t, err)
		require.Equal(t, "api@v0.1.0 base@v1.2.0 web@v1.0.0", versions(lock))
		require.Equal(t, "1.2.0", lock.Module("base").Tag)
		require.Equal(t, base.git("rev-parse", "1.2.0"), lock.Module("base").Commit)
		texts = append(texts, string(lock.Text()))
	}
	require.Equal(t, texts[0], texts[1])

	list, err := newResolver(newCache(t)).Versions(t.Context(), module.Source{Git: address("base")})
	require.NoError(t, err)
	require.Equal(t, []string{"v1.0.0", "v1.1.0", "v1.2.0", "v1.3.0"}, list)
	require.Equal(t, "v1.3.0", resolve.Latest(list, ""))
	require.Equal(t, "v1.3.0", resolve.Latest([]string{"v1.3.0", "v1.4.0-rc.1"}, "v1"))

	// web and api state different sources for base, until the site states one.
	web.release("v1.1.0", map[string]string{"ccm.mod.lua": modFile("web", "base v1.1.0 "+address("other"))})
	other := newRepository(t, at+"/other")
	other.release("v1.1.0", map[string]string{"ccm.mod.lua": modFile("base"), "base.lua": ""})
	unclear := parse(t, modFile("site", "api v0.1.0 "+address("api"), "web v1.1.0 "+address("web")))
	_, err = newResolver(newCache(t)).Lock(t.Context(), at, unclear, nil)
	require.ErrorContains(t, err, "requires base from")
	clear := parse(t, modFile("site", "base v1.0.0 "+address("base"), "api v0.1.0 "+address("api"), "web v1.1.0 "+address("web")))
	_, err = newResolver(newCache(t)).Lock(t.Context(), at, clear, nil)
	require.NoError(t, err)
}

// With a filled cache no network is needed; a tampered copy is downloaded again; a moved tag is refused.
func TestCache(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	repo := newRepository(t, at+"/nginx")
	repo.release("v1.0.0", map[string]string{"ccm.mod.lua": modFile("nginx"), "nginx.lua": "return 1\n"})
	site := parse(t, modFile("site", "nginx v1.0.0 file://"+at+"/nginx"))
	cache := newCache(t)
	lock, err := newResolver(cache).Lock(t.Context(), at, site, nil)
	require.NoError(t, err)
	dir, err := module.TreeDir(cache, lock.Module("nginx").Hash)
	require.NoError(t, err)
	fi, err := os.Stat(dir + "/nginx.lua")
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o444), fi.Mode())

	require.NoError(t, os.Rename(at+"/nginx", at+"/away"))
	offline := newResolver(cache)
	offline.Transport = noNetwork{}
	again, err := offline.Lock(t.Context(), at, site, lock)
	require.NoError(t, err)
	require.Equal(t, lock.Text(), again.Text())

	require.NoError(t, os.Rename(at+"/away", at+"/nginx"))
	require.NoError(t, os.Chmod(dir+"/nginx.lua", 0o644))
	require.NoError(t, os.WriteFile(dir+"/nginx.lua", []byte("return 2\n"), 0o644))
	_, err = newResolver(cache).Lock(t.Context(), at, site, lock)
	require.NoError(t, err)
	text, err := os.ReadFile(dir + "/nginx.lua")
	require.NoError(t, err)
	require.Equal(t, "return 1\n", string(text))

	repo.git("tag", "-d", "v1.0.0")
	repo.release("v1.0.0", map[string]string{"nginx.lua": "return 'evil'\n"})
	_, err = newResolver(newCache(t)).Lock(t.Context(), at, site, lock)
	require.ErrorContains(t, err, "someone moved the tag v1.0.0")
}

// Of several processes that get the same module at once, all find it complete.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	repo := newRepository(t, at+"/nginx")
	repo.release("v1.0.0", map[string]string{"ccm.mod.lua": modFile("nginx"), "nginx.lua": "return 1\n", "a/b/c": "x"})
	site := parse(t, modFile("site", "nginx v1.0.0 file://"+at+"/nginx"))
	cache := newCache(t)
	var wg sync.WaitGroup
	errs := make([]error, 6)
	for i := range errs {
		wg.Go(func() {
			var lock *module.Lock
			r := newResolver(cache)
			defer r.Close()
			if lock, errs[i] = r.Lock(t.Context(), at, site, nil); errs[i] == nil {
				var dir, hash string
				if dir, errs[i] = module.TreeDir(cache, lock.Module("nginx").Hash); errs[i] == nil {
					hash, errs[i] = module.HashDir(dir)
					if hash != lock.Module("nginx").Hash {
						errs[i] = errors.Join(errs[i], errors.New("it is not whole"))
					}
				}
			}
		})
	}
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
	left, err := os.ReadDir(cache + "/tmp")
	require.NoError(t, err)
	require.Empty(t, left)
}

// The attributes of a repository and the settings of the user do not change the files that are extracted, and paths
// that lead out of a module are refused.
func TestHostileRepositories(t *testing.T) {
	at := t.TempDir()
	repo := newRepository(t, at+"/nginx")
	text := "$Format:%H %d$ $Id$\r\n"
	repo.release("v1.0.0", map[string]string{
		"ccm.mod.lua": modFile("nginx"), "nginx.lua": text, "left-out.lua": "",
		".gitattributes": "nginx.lua export-subst ident text eol=lf filter=evil\nleft-out.lua export-ignore\n",
	})
	config := at + "/config"
	write(t, at, map[string]string{"config": "[core]\n\tautocrlf = true\n[filter \"evil\"]\n\tsmudge = touch " + at + "/evil\n\trequired = true\n"})
	t.Setenv("GIT_CONFIG_GLOBAL", config)
	got, err := newResolver(newCache(t)).Get(t.Context(), module.Source{Git: "file://" + at + "/nginx"}, "v1.0.0")
	require.NoError(t, err)
	have, err := os.ReadFile(got.Dir + "/nginx.lua")
	require.NoError(t, err)
	require.Equal(t, repo.git("cat-file", "blob", "v1.0.0:nginx.lua"), strings.TrimSpace(string(have)))
	require.FileExists(t, got.Dir+"/left-out.lua")
	require.NoFileExists(t, at+"/evil")

	t.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
	require.NoError(t, os.Symlink("nginx.lua", repo.dir+"/link"))
	repo.release("v1.1.0", nil)
	_, err = newResolver(newCache(t)).Get(t.Context(), module.Source{Git: "file://" + at + "/nginx"}, "v1.1.0")
	require.ErrorContains(t, err, "is a link or special file, which is not supported in modules")

	for _, address := range []string{"ext::sh -c id", "--upload-pack=id", "git://example.org/x", "ssh://-oProxyCommand=id/x", "https://ann:secret@example.org/x", "/srv/x", "fd::3"} {
		_, err = newResolver(newCache(t)).Versions(t.Context(), module.Source{Git: address})
		require.Error(t, err, address)
	}
}

// A repository can hold several modules, each with its own tags.
func TestFolders(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	repo := newRepository(t, at+"/all")
	repo.release("nginx/v1.0.0", map[string]string{"nginx/ccm.mod.lua": modFile("nginx"), "nginx/nginx.lua": "return 1\n", "sshd/ccm.mod.lua": modFile("sshd"), "sshd/sshd.lua": "return 1\n"})
	repo.git("tag", "sshd/v2.0.0")
	for folder, version := range map[string]string{"nginx": "v1.0.0", "sshd": "v2.0.0"} {
		source := module.Source{Git: "file://" + at + "/all", Folder: folder}
		list, err := newResolver(newCache(t)).Versions(t.Context(), source)
		require.NoError(t, err)
		require.Equal(t, []string{version}, list)
		got, err := newResolver(newCache(t)).Get(t.Context(), source, version)
		require.NoError(t, err)
		require.FileExists(t, got.Dir+"/"+folder+".lua")
		require.NoDirExists(t, got.Dir+"/nginx")
	}
	_, err := newResolver(newCache(t)).Get(t.Context(), module.Source{Git: "file://" + at + "/all", Folder: "nope"}, "v1.0.0")
	require.Error(t, err)
}

// A commandLog counts the commands of git.
type commandLog struct {
	host.Runner
	count map[string]int
}

// Run implements host.Runner.
func (l *commandLog) Run(ctx context.Context, cmd host.Cmd) (command.Result, error) {
	for _, name := range []string{"ls-remote", "init", "fetch", "rev-parse", "archive"} {
		if slices.Contains(cmd.Argv, name) {
			l.count[name]++
		}
	}
	return l.Runner.Run(ctx, cmd)
}

// A moved tag is refused even if its files are the same, and once the tag is moved back the module can be got again
// in spite of the cache.
func TestMovedTags(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	repo := newRepository(t, at+"/nginx")
	repo.release("v1.0.0", map[string]string{"ccm.mod.lua": modFile("nginx"), "nginx.lua": "return 1\n"})
	site := parse(t, modFile("site", "nginx v1.0.0 file://"+at+"/nginx"))
	lock, err := newResolver(newCache(t)).Lock(t.Context(), at, site, nil)
	require.NoError(t, err)
	m := lock.Module("nginx")

	cache := newCache(t)
	for _, text := range []string{"return 1\n", "return 2\n"} {
		repo.git("tag", "-d", "v1.0.0")
		repo.release("v1.0.0", map[string]string{"nginx.lua": text})
		_, err = newResolver(cache).Lock(t.Context(), at, site, lock)
		require.ErrorContains(t, err, "someone moved the tag v1.0.0")
		_, err = newResolver(cache).GetLocked(t.Context(), m)
		require.ErrorContains(t, err, "someone moved the tag v1.0.0")
	}
	repo.git("tag", "-f", "v1.0.0", m.Commit)
	got, err := newResolver(cache).GetLocked(t.Context(), m)
	require.NoError(t, err)
	require.Equal(t, m.Hash, got.Hash)
	_, err = newResolver(cache).Lock(t.Context(), at, site, lock)
	require.NoError(t, err)
}

// Modules that are folders of one repository need one listing and one fetch of it.
func TestFoldersAreFetchedOnce(t *testing.T) {
	t.Parallel()
	const folders = 20
	at := t.TempDir()
	files, site := make(map[string]string), "return { dependencies = {\n"
	for i := range folders {
		name := fmt.Sprintf("m%d", i)
		files[name+"/ccm.mod.lua"], files[name+"/"+name+".lua"] = modFile(name), "return 1\n"
		site += fmt.Sprintf("  %s = { version = %q, git = %q, folder = %q },\n", name, "v1.0.0", "file://"+at+"/all", name)
	}
	newRepository(t, at+"/all").release("v1.0.0", files)
	cache := newCache(t)
	r := newResolver(cache)
	log := &commandLog{new(command.Exec), make(map[string]int)}
	r.Host = host.New(host.Options{Runner: log})
	lock, err := r.Lock(t.Context(), at, parse(t, site+"} }\n"), nil)
	require.NoError(t, err)
	require.Len(t, lock.Modules, folders)
	require.Equal(t, map[string]int{"ls-remote": 1, "init": 1, "fetch": 1, "rev-parse": 1, "archive": folders}, log.count)
	r.Close()
	rest, err := os.ReadDir(cache + "/tmp")
	require.NoError(t, err)
	require.Empty(t, rest)
}

// Repositories over HTTP and archives from any server give the same hash as the lock.
func TestOverHTTP(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	repo := newRepository(t, at+"/nginx")
	files := map[string]string{"ccm.mod.lua": modFile("nginx"), "nginx.lua": "return 1\n"}
	repo.release("v1.0.0", files)
	git, err := exec.LookPath("git")
	require.NoError(t, err)
	served := httptest.NewServer(&cgi.Handler{
		Path: git, Args: []string{"http-backend"},
		Env: []string{"GIT_PROJECT_ROOT=" + at, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_GLOBAL=/dev/null", "HOME=" + at},
	})
	defer served.Close()
	got, err := newResolver(newCache(t)).Get(t.Context(), module.Source{Git: served.URL + "/nginx/.git"}, "v1.0.0")
	require.NoError(t, err)

	var archive bytes.Buffer
	zw := gzip.NewWriter(&archive)
	tw := tar.NewWriter(zw)
	for name, text := range files {
		require.NoError(t, tw.WriteHeader(&tar.Header{Name: "nginx-1.0.0/" + name, Mode: 0o777, Size: int64(len(text))}))
		_, err := tw.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, errors.Join(tw.Close(), zw.Close()))
	archives := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/nginx-1.0.0.tar.gz" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = w.Write(archive.Bytes())
	}))
	defer archives.Close()
	source := module.Source{URL: archives.URL + "/nginx-{version}.tar.gz"}
	other, err := newResolver(newCache(t)).Get(t.Context(), source, "v1.0.0")
	require.NoError(t, err)
	require.Equal(t, got.Hash, other.Hash)
	_, err = newResolver(newCache(t)).Get(t.Context(), source, "v1.1.0")
	require.ErrorContains(t, err, "404")
}

// Root downloads over plain http only what a hash of the lock or a signed tag verifies. A server of https may not
// redirect git to http either.
func TestPlainHTTP(t *testing.T) {
	at := t.TempDir()
	repo := newRepository(t, at+"/nginx")
	repo.release("v1.0.0", map[string]string{"ccm.mod.lua": modFile("nginx"), "nginx.lua": "return 1\n"})
	git, err := exec.LookPath("git")
	require.NoError(t, err)
	served := httptest.NewServer(&cgi.Handler{
		Path: git, Args: []string{"http-backend"},
		Env: []string{"GIT_PROJECT_ROOT=" + at, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_GLOBAL=/dev/null", "HOME=" + at},
	})
	defer served.Close()
	root := func() *resolve.Resolver {
		r := newResolver(newCache(t))
		r.Policy = &trust.Policy{Owners: []uint32{0, uint32(os.Getuid())}}
		return r
	}
	plain := parse(t, modFile("site", "nginx v1.0.0 "+served.URL+"/nginx/.git"))
	refused := ": not trusted as root: http is not protected against tampering (use https or ssh, or set signers in ccm.mod.lua for signed tags, or --allow-insecure)"
	_, err = root().Lock(t.Context(), at, plain, nil)
	require.ErrorContains(t, err, served.URL+"/nginx/.git"+refused)
	archive := parse(t, `return { signers = { ["*"] = "signers" }, dependencies = { nginx = { version = "v1.0.0", url = "http://127.0.0.1:1/nginx-{version}.tar.gz" } } }`)
	_, err = root().Lock(t.Context(), at, archive, nil)
	require.ErrorContains(t, err, refused)

	lock, err := newResolver(newCache(t)).Lock(t.Context(), at, plain, nil) // as a user other than root
	require.NoError(t, err)
	again, err := root().Lock(t.Context(), at, plain, lock)
	require.NoError(t, err, "the lock has its hash")
	require.Equal(t, lock.Text(), again.Text())
	signed := parse(t, fmt.Sprintf(`return { signers = { ["*"] = "signers" }, dependencies = { nginx = { version = "v1.0.0", git = %q } } }`, served.URL+"/nginx/.git"))
	_, err = root().Lock(t.Context(), at, signed, nil)
	require.ErrorContains(t, err, "lacks an SSH signature")

	elsewhere := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, served.URL+r.URL.RequestURI(), http.StatusFound)
	}))
	defer elsewhere.Close()
	redirected := module.Source{Git: elsewhere.URL + "/nginx/.git"}
	ca := filepath.Join(at, "ca.pem")
	require.NoError(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: elsewhere.Certificate().Raw}), 0o644))
	t.Setenv("GIT_SSL_CAINFO", ca)
	_, err = newResolver(newCache(t)).Get(t.Context(), redirected, "v1.0.0")
	require.NoError(t, err)
	_, err = root().Get(t.Context(), redirected, "v1.0.0")
	require.ErrorContains(t, err, "http") // the message of git or of the HTTP library
}

// A site accepts only tags that its signers have signed, and only under the name that was signed.
func TestSignedTags(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("there is no ssh-keygen")
	}
	at := t.TempDir()
	for _, who := range []string{"ann", "eve"} {
		out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", who, "-f", at+"/"+who).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	key, err := os.ReadFile(at + "/ann.pub")
	require.NoError(t, err)
	repo := newRepository(t, at+"/nginx")
	sign := func(who, tag string) {
		repo.git("-c", "gpg.format=ssh", "-c", "user.signingKey="+at+"/"+who, "tag", "-s", "-m", "release", tag)
	}
	repo.release("v1.0.0", map[string]string{"ccm.mod.lua": modFile("nginx"), "nginx.lua": "return 1\n"})
	sign("ann", "v1.1.0")
	sign("eve", "v1.2.0")
	repo.git("tag", "-a", "-m", "unsigned", "v1.3.0")
	repo.git("update-ref", "refs/tags/v1.4.0", repo.git("rev-parse", "v1.1.0")) // the signed object of v1.1.0 under another name
	write(t, at, map[string]string{"signers": "ann@example.org namespaces=\"git\" " + string(key)})
	for version, want := range map[string]string{
		"v1.0.0": "lacks an SSH signature", "v1.1.0": "", "v1.2.0": "is not allowed", "v1.3.0": "lacks an SSH signature", "v1.4.0": `got one of "v1.1.0"`,
	} {
		text := fmt.Sprintf(`return { signers = { ["*"] = "signers" }, dependencies = { nginx = { version = %q, git = "file://%s/nginx" } } }`, version, at)
		lock, err := newResolver(newCache(t)).Lock(t.Context(), at, parse(t, text), nil)
		if want != "" {
			var told diag.List
			told.Add(err)
			require.ErrorContains(t, told.Err(), "nginx@"+version+": ")
			require.ErrorContains(t, err, want, version)
			continue
		}
		require.NoError(t, err)
		require.Contains(t, lock.Module("nginx").Signer, "ann@example.org (SHA256:")
		write(t, at, map[string]string{"ccm.mod.lua": text, "ccm.lock": string(lock.Text())})
	}
	// A locked module is refused once its signer is removed from the file.
	other, err := os.ReadFile(at + "/eve.pub")
	require.NoError(t, err)
	check := func() error {
		s, err := module.Open(nil, at, []string{t.TempDir()})
		require.NoError(t, err)
		return s.Check()
	}
	require.NoError(t, check())
	write(t, at, map[string]string{"signers": "eve@example.org namespaces=\"git\" " + string(other)})
	require.ErrorContains(t, check(), "nginx@v1.1.0: its signer ann@example.org ")
	s, err := module.Open(nil, at, []string{t.TempDir()})
	require.NoError(t, err)
	_, err = s.Require("", "nginx")
	require.ErrorContains(t, err, "is not in signers")
	require.NoError(t, os.Remove(at+"/signers"))
	require.ErrorContains(t, check(), "signers of nginx")
	s, err = module.Open(nil, at, []string{t.TempDir()})
	require.NoError(t, err)
	_, err = s.Require("", "nginx") // as on a machine that got a bundle
	require.ErrorContains(t, err, "are neither in")
}

// Vendor copies the modules of the lock, and removes those that the lock no longer has.
func TestVendor(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	for _, name := range []string{"nginx", "example.org/sshd"} {
		repo := newRepository(t, at+"/"+name)
		short := module.ShortName(name)
		repo.release("v1.0.0", map[string]string{"ccm.mod.lua": strings.Replace(modFile(short), `name = "`+short, `name = "`+name, 1), short + ".lua": "return 1\n"})
	}
	r := newResolver(newCache(t))
	site := at + "/site"
	var copies []module.Copy
	text := modFile("site", "nginx v1.0.0 file://"+at+"/nginx", "example.org/sshd v1.0.0 file://"+at+"/example.org/sshd")
	lock, err := r.Lock(t.Context(), site, parse(t, text), nil)
	require.NoError(t, err)
	for i := range lock.Modules {
		m := &lock.Modules[i]
		dir, err := module.TreeDir(r.Caches[0], m.Hash)
		require.NoError(t, err)
		copies = append(copies, module.Copy{LockedModule: m, Dir: dir})
	}
	write(t, site, map[string]string{"vendor/mine.lua": "", "vendor/old/ccm.mod.lua": modFile("old"), "vendor/nginx/stray": "x", "ccm.mod.lua": text, "ccm.lock": string(lock.Text())})
	removed, err := r.Vendor(site, copies)
	require.NoError(t, err)
	require.Equal(t, []string{"old"}, removed)
	require.FileExists(t, site+"/vendor/mine.lua")
	require.NoFileExists(t, site+"/vendor/nginx/stray")

	s, err := module.Open(nil, site, []string{t.TempDir()}) // with an empty cache
	require.NoError(t, err)
	have, err := s.Copies()
	require.NoError(t, err)
	require.Equal(t, site+"/vendor/example.org/sshd", have[0].Dir)
}

// Modules that break a rule are refused with a message that names it.
func TestRefusedModules(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	repo := newRepository(t, at+"/m")
	for version, x := range map[string]struct{ file, want string }{
		"v1.0.0": {"", "ccm.mod.lua does not exist in it"},
		"v1.1.0": {`return { }`, "module without a name"},
		"v1.2.0": {`return { name = "other" }`, "contains module other, not m"},
		"v1.3.0": {`return { name = "m", exports = { "m.none" } }`, "the file does not exist"},
		"v1.4.0": {`return { name = "m", ccm = ">= 99" }`, ""},
		"v1.5.0": {`return { name = "m", exports = { "util" } }`, `does not begin with "m."`},
	} {
		if x.file == "" {
			repo.git("rm", "-q", "--ignore-unmatch", "ccm.mod.lua")
			repo.release(version, nil)
		} else {
			repo.release(version, map[string]string{"ccm.mod.lua": x.file})
		}
		r := newResolver(newCache(t))
		_, err := r.Lock(t.Context(), at, parse(t, modFile("site", "m "+version+" file://"+at+"/m")), nil)
		if x.want == "" {
			require.NoError(t, err, "a build without a version has everything")
			r.Version = "1.2.3"
			_, err = r.Lock(t.Context(), at, parse(t, modFile("site", "m "+version+" file://"+at+"/m")), nil)
			x.want = "requires ccm >= 99, this is 1.2.3"
		}
		require.ErrorContains(t, err, x.want, version)
	}
}
