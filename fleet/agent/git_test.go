package agent

import (
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/signers"
	"github.com/luaccm/ccm/runtime/trust"
)

func rootPolicy() *trust.Policy { return &trust.Policy{Owners: []uint32{0}} }

// A repository is a git repository with a branch main.
type repository struct {
	t        testing.TB
	dir      string
	settings []string
}

func newRepository(t testing.TB) *repository {
	r := &repository{t: t, dir: filepath.Join(t.TempDir(), "site.git")}
	r.git("init", "--quiet", "--initial-branch=main", "--", r.dir)
	return r
}

// git runs git without the settings of the machine.
func (r *repository) git(args ...string) string {
	r.t.Helper()
	argv := append([]string{"-c", "user.name=Ann", "-c", "user.email=ann@example.org"}, r.settings...)
	cmd := exec.CommandContext(r.t.Context(), "git", append(argv, args...)...)
	if args[0] != "init" {
		cmd.Dir = r.dir
	}
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	require.NoError(r.t, err, "git %s: %s", strings.Join(args, " "), out)
	return strings.TrimSpace(string(out))
}

// commit commits exactly these files, and returns the commit.
func (r *repository) commit(files map[string]string, flags ...string) string {
	r.t.Helper()
	list, err := os.ReadDir(r.dir)
	require.NoError(r.t, err)
	for _, e := range list {
		if e.Name() != ".git" {
			require.NoError(r.t, os.RemoveAll(filepath.Join(r.dir, e.Name())))
		}
	}
	for name, text := range files {
		path := filepath.Join(r.dir, name)
		require.NoError(r.t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(r.t, os.WriteFile(path, []byte(text), 0o644))
	}
	r.git("add", "--all", ".")
	r.git(append([]string{"commit", "--quiet", "--allow-empty", "--message=x"}, flags...)...)
	return r.git("rev-parse", "HEAD")
}

// serve serves the repository over HTTP with git http-backend.
func (r *repository) serve() string {
	r.git("config", "http.receivepack", "false")
	program := filepath.Join(strings.TrimSpace(r.git("--exec-path")), "git-http-backend")
	s := httptest.NewServer(&cgi.Handler{Path: program, Env: []string{"GIT_PROJECT_ROOT=" + filepath.Dir(r.dir), "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_GLOBAL=/dev/null"}})
	r.t.Cleanup(s.Close)
	return s.URL + "/site.git"
}

func TestGitSource(t *testing.T) {
	r := newRepository(t)
	for _, address := range []string{r.dir, "file://" + r.dir, r.serve()} {
		x := testAccess(t)
		first := r.commit(map[string]string{"site.lua": "one", "sites/db/site.lua": "db", "sites/web.lua": "web", ".gitattributes": "site.lua export-ignore\n"})
		r.git("tag", "--force", "v1")
		r.git("tag", "--force", "--annotate", "--message=x", "v2")
		source := func(c SourceConfig) Source {
			c.Git = address
			s, err := x.newSource(c)
			require.NoError(t, err)
			return s
		}
		for name, c := range map[string]struct {
			config SourceConfig
			want   string
		}{
			"HEAD":         {SourceConfig{}, "one"},
			"a branch":     {SourceConfig{Ref: "main"}, "one"},
			"a full name":  {SourceConfig{Ref: "refs/heads/main"}, "one"},
			"a tag":        {SourceConfig{Ref: "v1"}, "one"},
			"an annotated": {SourceConfig{Ref: "v2"}, "one"},
			"a commit":     {SourceConfig{Ref: first}, "one"},
			"a folder":     {SourceConfig{Ref: "main", Path: "sites/db"}, "db"},
			"a script":     {SourceConfig{Ref: "main", Path: "sites/web.lua"}, "web"},
		} {
			s := source(c.config)
			changed, err := s.Poll(t.Context())
			require.NoError(t, err, name)
			require.True(t, changed, name)
			require.Equal(t, c.want, taken(t, s), name)
			site, release, _ := s.Take()
			release()
			require.Equal(t, "commit:"+first, site.Digest, name)
			changed, err = s.Poll(t.Context())
			require.NoError(t, err)
			require.False(t, changed)
			require.Zero(t, s.(Patience).PollInterval(), "what has just changed is asked often")
			s.(*gitSource).changeTime = s.(*gitSource).changeTime.Add(-busyTime)
			pause := s.(Patience).PollInterval()
			require.LessOrEqual(t, pause, longestPause)
			require.Equal(t, c.config.Ref == first, pause == 0, "git is asked for all but a commit, which cannot change")
		}
		s := source(SourceConfig{Ref: "main"})
		r.commit(map[string]string{"site.lua": "two"})
		changed, err := s.Poll(t.Context())
		require.NoError(t, err)
		require.True(t, changed)
		require.Equal(t, "two", taken(t, s))

		r.git("branch", "--force", "both")
		r.git("tag", "--force", "both")
		for want, c := range map[string]SourceConfig{
			`no such branch or tag "none"`:      {Ref: "none"},
			"none does not exist in the commit": {Ref: "main", Path: "none"},
			"both is both a branch and a tag (use ref: refs/heads/both or ref: refs/tags/both)": {Ref: "both"},
		} {
			_, err := source(c).Poll(t.Context())
			require.EqualError(t, err, want)
		}
		r.commit(map[string]string{"readme": "x"})
		_, err = s.Poll(t.Context())
		require.EqualError(t, err, "cannot run the directory . of the commit: no site.lua or manifest.yaml (set path to a directory or a file)")
		require.Equal(t, "two", taken(t, s))
		require.NoError(t, os.Rename(r.dir, r.dir+".away"))
		_, err = s.Poll(t.Context())
		require.ErrorContains(t, err, "git ls-remote: ")
		require.Equal(t, "two", taken(t, s))
		require.NoError(t, os.Rename(r.dir+".away", r.dir))
	}
}

func TestSignedCommits(t *testing.T) {
	r, x := newRepository(t), testAccess(t)
	ann, annLine := newKey(t, "ann")
	eve, _ := newKey(t, "eve")
	file := filepath.Join(t.TempDir(), "allowed_signers")
	require.NoError(t, os.WriteFile(file, []byte(annLine), 0o644))
	s, err := x.newSource(SourceConfig{Git: r.dir, Ref: "main", Signers: file})
	require.NoError(t, err)
	refused := func(want string) {
		t.Helper()
		_, err := s.Poll(t.Context())
		require.ErrorContains(t, err, want)
	}
	r.commit(map[string]string{"site.lua": "unsigned"})
	refused("not signed")
	signed := func(key string) { r.settings = []string{"-c", "gpg.format=ssh", "-c", "user.signingKey=" + key} }
	signed(eve)
	r.commit(map[string]string{"site.lua": "eve"}, "--gpg-sign")
	refused("is not allowed: not in")
	require.Empty(t, taken(t, s))
	signed(ann)
	r.commit(map[string]string{"site.lua": "ann"}, "--gpg-sign", "--message=A text\n\nof several\n lines")
	_, err = s.Poll(t.Context())
	require.NoError(t, err)
	require.Equal(t, "ann", taken(t, s))
	site, release, _ := s.Take()
	release()
	require.True(t, strings.HasPrefix(site.Signer, "ann@example.org (SHA256:"), site.Signer)
	r.settings = nil
	r.commit(map[string]string{"site.lua": "unsigned"})
	refused("not signed")
	require.Equal(t, "ann", taken(t, s))
}

// The signature of a commit covers all of its text.
func TestDamagedCommits(t *testing.T) {
	r := newRepository(t)
	ann, line := newKey(t, "ann")
	r.settings = []string{"-c", "gpg.format=ssh", "-c", "user.signingKey=" + ann}
	r.commit(map[string]string{"site.lua": "x"}, "--gpg-sign")
	text := r.git("cat-file", "commit", "HEAD") + "\n"
	list, err := signers.Parse("signers", line)
	require.NoError(t, err)
	_, err = commitSigner(list, text)
	require.NoError(t, err)
	begin, end := strings.Index(text, "gpgsig "), strings.Index(text, "END SSH SIGNATURE")
	for i := range len(text) {
		changed := []byte(text)
		changed[i] ^= 1
		_, err := commitSigner(list, string(changed))
		if i < begin || i > end+len("END SSH SIGNATURE-----\n") {
			require.Error(t, err, "byte %d of\n%s", i, text)
		}
	}
	for _, other := range []string{strings.Replace(text, "\ngpgsig ", "\ngpgsig x\ngpgsig ", 1), "gpgsig x\n" + text, text + "x", strings.Replace(text, "\n\n", "\n", 1), ""} {
		_, err := commitSigner(list, other)
		require.Error(t, err)
	}
}
