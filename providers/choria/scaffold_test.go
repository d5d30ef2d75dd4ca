package choria

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/resource/resourcetest"
	"github.com/luaccm/ccm/runtime/safepath"
)

// env is what templates see in these tests.
func env(context.Context) (Env, error) {
	tree := map[string]any{
		"hostname": "web01", "nothing": nil, "cores": int64(4),
		"os": map[string]any{"family": "debian"},
	}
	data := map[string]any{
		"bind": "0.0.0.0", "packages": []any{"curl", "git"}, "password": "hunter2",
		"users": map[string]any{"zoe": int64(3), "ann": int64(1), "mia": int64(2), "bob": int64(4)},
	}
	return Env{Facts: tree, Data: data, Lookup: func(path string, fallback ...any) (any, error) {
		switch {
		case path == "facts.os.family":
			return "debian", nil
		case path == "data.users":
			return data["users"], nil
		case len(fallback) > 0:
			return fallback[0], nil
		}
		return nil, fmt.Errorf("no value at %q", path)
	}}, nil
}

// files makes a directory of files; a name that ends in a slash is a directory,
// a text that begins with → is a symbolic link.
func files(t *testing.T, dir string, texts map[string]string) string {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		path := filepath.Join(dir, name)
		if strings.HasSuffix(name, "/") {
			require.NoError(t, os.MkdirAll(path, 0o755))
			continue
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		if target, ok := strings.CutPrefix(texts[name], "→ "); ok {
			require.NoError(t, os.Symlink(target, path))
			continue
		}
		require.NoError(t, os.WriteFile(path, []byte(texts[name]), 0o644))
	}
	return dir
}

func want(change func(*resources.Scaffold)) resources.Scaffold {
	s := resources.Scaffold{Name: "/etc/app", Ensure: resources.ScaffoldPresent, Engine: resources.ScaffoldJet, Parents: true}
	if change != nil {
		change(&s)
	}
	return s
}

// start makes a machine for the suite. Commands of post are run.
func start(texts map[string]string) func(*testing.T, string) host.Runner {
	return func(t *testing.T, root string) host.Runner {
		files(t, root, texts)
		return nil
	}
}

func TestScaffolds(t *testing.T) {
	source := files(t, t.TempDir(), map[string]string{
		"app.conf":           "host = [[ facts.hostname ]]\n",
		"conf.d/log.conf":    "level = info\n",
		"conf.d/empty.conf":  "[[ if false ]]x[[ end ]]\n",
		"bin/run.sh":         "#!/bin/sh\n",
		"logs/":              "",
		"_partials/head.txt": "head",
	})
	of := func(change func(*resources.Scaffold)) resources.Scaffold {
		s := want(change)
		s.Source = source
		return s
	}
	all := map[string]string{
		"etc/app/app.conf": "host = web01\n", "etc/app/conf.d/log.conf": "level = info\n", "etc/app/conf.d/empty.conf": "\n",
		"etc/app/bin/run.sh": "#!/bin/sh\n", "etc/app/logs/": "",
	}
	with := func(more map[string]string) map[string]string {
		m := maps.Clone(all)
		maps.Copy(m, more)
		return m
	}
	const link, file = "found a symbolic link at /etc/app/conf.d", "found a file, which is not replaced or followed"
	suite := resourcetest.Suite[resources.Scaffold, resources.ScaffoldState, resources.ScaffoldProvider]{
		Type:     resources.ScaffoldType,
		Provider: &scaffolds{env: env},
		Starts: map[string]func(*testing.T, string) host.Runner{
			"nothing":     start(nil),
			"rendered":    start(all),
			"differs":     start(with(map[string]string{"etc/app/app.conf": "host = old\n"})),
			"extra":       start(with(map[string]string{"etc/app/old.conf": "x", "etc/app/conf.d/old/x": "x"})),
			"only extra":  start(map[string]string{"etc/app/conf.d/mine": "x", "etc/app/sub/link": "→ /etc/passwd"}),
			"link":        start(map[string]string{"etc/app/conf.d": "→ ../../elsewhere", "elsewhere/log.conf": "victim"}),
			"final link":  start(map[string]string{"etc/app/app.conf": "→ ../../elsewhere", "elsewhere": "victim"}),
			"file":        start(map[string]string{"etc/app": "x"}),
			"target link": start(map[string]string{"etc/app": "→ ../elsewhere", "elsewhere/": ""}),
		},
		Wants: map[string]resources.Scaffold{
			"present":      of(nil),
			"skip":         of(func(s *resources.Scaffold) { s.SkipEmpty = true }),
			"purge":        of(func(s *resources.Scaffold) { s.Purge = true }),
			"post":         of(func(s *resources.Scaffold) { s.Post = []map[string]string{{"*.sh": "chmod 0750 {}"}} }),
			"absent":       of(func(s *resources.Scaffold) { s.Ensure = resources.ScaffoldAbsent }),
			"absent purge": of(func(s *resources.Scaffold) { s.Ensure, s.Purge = resources.ScaffoldAbsent, true }),
			"no source":    want(func(s *resources.Scaffold) { s.Source = source + "/no" }),
		},
		Phrases: map[string][]string{
			"nothing/present":         {"changed 5 scaffold files"},
			"nothing/skip":            {"changed 4 scaffold files"},
			"nothing/absent":          {},
			"rendered/present":        {},
			"rendered/purge":          {},
			"rendered/post":           {"changed 1 scaffold file"},
			"rendered/absent":         {"removed 4 scaffold files"},
			"differs/present":         {"changed 1 scaffold file"},
			"differs/absent":          {"removed 4 scaffold files"},
			"extra/present":           {},
			"extra/purge":             {"changed 2 scaffold files"},
			"extra/absent":            {"removed 4 scaffold files"},
			"extra/absent purge":      {"removed 6 scaffold files"},
			"only extra/present":      {"changed 5 scaffold files"},
			"only extra/purge":        {"changed 7 scaffold files"},
			"only extra/absent":       {},
			"only extra/absent purge": {},
			"link/absent":             {},
			"final link/absent":       {},
		},
		Fails: map[string]string{
			"nothing/no source":        "source: stat " + source + "/no: no such file or directory",
			"file/absent":              file,
			"file/absent purge":        file,
			"target link/absent":       "found a symbolic link, which is not replaced or followed",
			"target link/absent purge": "found a symbolic link, which is not replaced or followed",
		},
	}
	for start := range suite.Starts {
		for w := range suite.Wants {
			fails := map[string]string{"file": file, "link": link, "final link": "found a symbolic link at /etc/app/app.conf",
				"target link": "found a symbolic link, which is not replaced or followed"}[start]
			if w == "no source" && fails == "" || w == "no source" && strings.Contains(start, "l link") || w == "no source" && start == "link" {
				fails = "no such file or directory"
			}
			if fails != "" && !strings.Contains(w, "absent") {
				suite.Fails[start+"/"+w] = fails
			}
		}
	}
	suite.Run(t)
}

// A machine is a host and the files below /etc/app on it.
type machine struct {
	*host.Host
	root string
	p    *scaffolds
}

func newMachine(t *testing.T, texts map[string]string) *machine {
	t.Helper()
	h, root := hosttest.New(t, nil)
	files(t, root, texts)
	return &machine{h, root, &scaffolds{env: env}}
}

// state returns what Status says.
func (m *machine) state(t *testing.T, s resources.Scaffold) resources.ScaffoldState {
	t.Helper()
	before := hosttest.Snapshot(t, m.root)
	have, err := m.p.Status(t.Context(), &m.View, s)
	require.NoError(t, err)
	require.Equal(t, before, hosttest.Snapshot(t, m.root))
	return have
}

// converge does what the engine does.
func (m *machine) converge(t *testing.T, s resources.Scaffold) error {
	t.Helper()
	have, err := m.p.Status(t.Context(), &m.View, s)
	if err != nil {
		return err
	}
	d := s.Decide(have)
	if d.Err != nil {
		return d.Err
	}
	for _, a := range d.Actions {
		if err := s.Perform(t.Context(), m.Host, m.p, a); err != nil {
			return err
		}
	}
	require.True(t, s.Decide(m.state(t, s)).Stable())
	return nil
}

// below returns the texts below /etc/app, with modes that are not the usual ones.
func (m *machine) below(t *testing.T) map[string]string {
	t.Helper()
	owner := fmt.Sprintf(" %d:%d ", os.Geteuid(), os.Getegid())
	out := make(map[string]string)
	for path, text := range hosttest.Snapshot(t, m.root) {
		if rel, ok := strings.CutPrefix(path, "etc/app/"); ok {
			text = strings.Replace(text, owner, " ", 1)
			text = strings.TrimPrefix(strings.TrimPrefix(text, "-rw-r--r-- "), "drwxr-xr-x ")
			out[rel] = text
		}
	}
	return out
}

// "Result Categorization" and "State Detection": the lists hold absolute paths.
func TestLists(t *testing.T) {
	source := files(t, t.TempDir(), map[string]string{"same": "same", "d/update": "new", "add": "new", "link": "x"})
	m := newMachine(t, map[string]string{
		"etc/app/same": "same", "etc/app/d/update": "old", "etc/app/d/remove": "x", "etc/app/gone/remove": "x", "etc/app/dangling": "→ nowhere",
	})
	s := want(func(s *resources.Scaffold) { s.Source, s.Purge = source, true })
	have := m.state(t, s)
	require.Equal(t, resources.ScaffoldState{
		Kind: safepath.Directory, TargetExists: true, Engine: resources.ScaffoldJet, Rendered: have.Rendered,
		Changed: []string{"/etc/app/add", "/etc/app/d/update", "/etc/app/link"},
		Missing: []string{"/etc/app/add", "/etc/app/link"},
		Stable:  []string{"/etc/app/same"},
		Purged:  []string{"/etc/app/d/remove", "/etc/app/dangling", "/etc/app/gone/remove"},
	}, have)

	require.Equal(t, resources.ScaffoldMetadata{
		Name: "/etc/app", Provider: "choria", TargetExists: true, Engine: "jet",
		Changed: have.Changed, Purged: have.Purged, Stable: have.Stable,
	}, have.Describe("/etc/app", "choria"))

	// "When ensure is absent, filter Changed and Stable lists to only include
	// files that actually exist on disk."
	s.Ensure = resources.ScaffoldAbsent
	have = m.state(t, s)
	require.Equal(t, []string{"/etc/app/d/update"}, have.Changed)
	require.Equal(t, []string{"/etc/app/same"}, have.Stable)
	require.Equal(t, []string{"/etc/app/d/remove", "/etc/app/dangling", "/etc/app/gone/remove"}, have.Purged)

	// "Does not exist: empty metadata, TargetExists: false"
	s.Name = "/etc/other"
	require.Equal(t, resources.ScaffoldState{Engine: resources.ScaffoldJet}, m.state(t, s))
}

// "purged files are not removed as they don't belong to the scaffold", "remove
// empty directories deepest-first", "Best-effort: remove the target directory".
func TestRemove(t *testing.T) {
	source := files(t, t.TempDir(), map[string]string{"a": "a", "d/e/f/b": "b", "d/c": "c", "logs/x/": ""})
	s := want(func(s *resources.Scaffold) { s.Source = source })
	absent := want(func(s *resources.Scaffold) { s.Source, s.Ensure = source, resources.ScaffoldAbsent })

	m := newMachine(t, nil)
	require.NoError(t, m.converge(t, s))
	require.Equal(t, map[string]string{"a": "a", "d": "", "d/c": "c", "d/e": "", "d/e/f": "", "d/e/f/b": "b", "logs": "", "logs/x": ""}, m.below(t))
	require.NoError(t, m.converge(t, absent))
	require.NoDirExists(t, m.root+"/etc/app")
	require.DirExists(t, m.root+"/etc")

	require.NoError(t, m.converge(t, s))
	files(t, m.root, map[string]string{"etc/app/d/mine": "mine", "etc/app/d/e/mine/": ""})
	require.NoError(t, m.converge(t, absent))
	require.Equal(t, map[string]string{"d": "", "d/mine": "mine", "d/e": "", "d/e/mine": ""}, m.below(t))
}

// The directories are removed in an order in which each is empty.
func TestRemoveDeepestFirst(t *testing.T) {
	source := files(t, t.TempDir(), map[string]string{"a/b/c/f": "", "a/b/g": "", "a-b/h": ""})
	root := t.TempDir()
	files(t, root, map[string]string{"etc/app/a/b/c/f": "", "etc/app/a/b/g": "", "etc/app/a-b/h": ""})
	var removed []string
	h := host.New(host.Options{Root: root, Effect: func(op, path string) error {
		if op == "remove" {
			removed = append(removed, path)
		}
		return nil
	}})
	p := &scaffolds{env: env}
	require.NoError(t, p.Remove(t.Context(), h, want(func(s *resources.Scaffold) { s.Source, s.Ensure = source, resources.ScaffoldAbsent })))
	require.Equal(t, []string{
		"/etc/app/a-b/h", "/etc/app/a/b/c/f", "/etc/app/a/b/g",
		"/etc/app/a/b/c", "/etc/app/a/b", "/etc/app/a", "/etc/app/a-b", "/etc/app",
	}, removed)
}

// "File removal fails: log error, continue with remaining files"
func TestRemoveGoesOn(t *testing.T) {
	source := files(t, t.TempDir(), map[string]string{"a": "", "b": "", "c": ""})
	root := t.TempDir()
	files(t, root, map[string]string{"etc/app/a": "", "etc/app/b": "", "etc/app/c": ""})
	h := host.New(host.Options{Root: root, Effect: func(_, path string) error {
		if path == "/etc/app/b" {
			return hosttest.ErrInjected
		}
		return nil
	}})
	p := &scaffolds{env: env}
	require.ErrorIs(t, p.Remove(t.Context(), h, want(func(s *resources.Scaffold) { s.Source, s.Ensure = source, resources.ScaffoldAbsent })), hosttest.ErrInjected)
	names, err := os.ReadDir(root + "/etc/app")
	require.NoError(t, err)
	require.Len(t, names, 1)
}

// Purge removes files in the target, and never targets of links.
func TestPurgeStaysInside(t *testing.T) {
	source := files(t, t.TempDir(), map[string]string{"a": "a"})
	m := newMachine(t, map[string]string{
		"etc/app/dir": "→ ../../elsewhere", "etc/app/file": "→ ../../elsewhere/f", "etc/app/abs": "→ /", "etc/app/d/up": "→ ..",
		"elsewhere/f": "victim",
	})
	require.NoError(t, m.converge(t, want(func(s *resources.Scaffold) { s.Source, s.Purge = source, true })))
	require.Equal(t, map[string]string{"a": "a", "d": ""}, m.below(t))
	require.FileExists(t, m.root+"/elsewhere/f")
}

// TestModes: a new file has the mode of its template, without the permission to write for others, and directories have
// 0755 whatever the umask, unless post changes them. An existing file keeps its mode and owner.
func TestModes(t *testing.T) {
	source := files(t, t.TempDir(), map[string]string{"d/f": "x", "d/s.sh": "x"})
	require.NoError(t, os.Chmod(source+"/d/f", 0o600))
	require.NoError(t, os.Chmod(source+"/d", 0o700))
	m := newMachine(t, map[string]string{"etc/": ""})
	s := want(func(s *resources.Scaffold) { s.Source, s.Post = source, []map[string]string{{"*.sh": "chmod 0700"}} })
	require.NoError(t, m.converge(t, s))
	require.Equal(t, map[string]string{"d": "", "d/f": "-rw------- x", "d/s.sh": "-rwx------ x"}, m.below(t))

	// A program can be run, and a secret of somebody else stays one.
	require.NoError(t, os.WriteFile(source+"/d/run", []byte("#!/bin/sh\n"), 0o644))
	require.NoError(t, os.Chmod(source+"/d/run", 0o775))
	require.NoError(t, os.WriteFile(source+"/d/g", []byte("new"), 0o644))
	files(t, m.root, map[string]string{"etc/app/d/g": "old"})
	require.NoError(t, os.Chmod(m.root+"/etc/app/d/g", 0o600))
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(m.root+"/etc/app/d/g", 4711, 4712))
	}
	was, err := m.Lstat("/etc/app/d/g")
	require.NoError(t, err)
	require.NoError(t, m.converge(t, s))
	is, err := m.Lstat("/etc/app/d/g")
	require.NoError(t, err)
	require.Equal(t, [3]uint32{was.UID, was.GID, 0o600}, [3]uint32{is.UID, is.GID, is.Mode})
	require.NotEqual(t, was.Ino, is.Ino)
	require.Equal(t, "-rwxr-xr-x #!/bin/sh\n", m.below(t)["d/run"])
	require.NoError(t, os.Remove(source+"/d/run"))
	require.NoError(t, os.Remove(source+"/d/g"))
	require.NoError(t, os.Remove(m.root+"/etc/app/d/run"))
	require.NoError(t, os.Remove(m.root+"/etc/app/d/g"))

	// What post sets is kept up; other permissions are not managed.
	require.NoError(t, os.Chmod(m.root+"/etc/app/d/s.sh", 0o644))
	require.NoError(t, os.Chmod(m.root+"/etc/app/d/f", 0o600))
	require.Equal(t, []string{"/etc/app/d/s.sh"}, m.state(t, s).Changed)
	require.NoError(t, m.converge(t, s))
	require.Equal(t, map[string]string{"d": "", "d/f": "-rw------- x", "d/s.sh": "-rwx------ x"}, m.below(t))
}

// Wherever a run fails or dies, the next one gets there.
func TestFailingAnywhere(t *testing.T) {
	source := files(t, t.TempDir(), map[string]string{"a": "a", "d/b": "b", "e/": ""})
	s := want(func(s *resources.Scaffold) { s.Source, s.Purge = source, true })
	for _, more := range []int{1, 1 << 20} {
		for n := 1; ; n++ {
			root := t.TempDir()
			files(t, root, map[string]string{"etc/app/a": "old", "etc/app/old": "old"})
			effect, asked := hosttest.Failing(n, more)
			m := &machine{host.New(host.Options{Root: root, Effect: effect}), root, &scaffolds{env: env}}
			err := m.converge(t, s)
			if asked() < n {
				require.NoError(t, err)
				require.Greater(t, n, 10)
				break
			}
			require.ErrorIs(t, err, hosttest.ErrInjected)
			got := m.below(t)["a"]
			require.True(t, got == "a" || got == "old", got)
			m.Host = host.New(host.Options{Root: root})
			require.NoError(t, m.converge(t, s))
			require.Equal(t, map[string]string{"a": "a", "d": "", "d/b": "b", "e": ""}, m.below(t))
		}
	}
}

// "The Choria provider ... is always available and returns priority 1", for the formats that it can read.
func TestSuits(t *testing.T) {
	n, err := suits(facts.Static(nil), want(func(s *resources.Scaffold) { s.Source = "/src" }))
	require.NoError(t, err)
	require.Equal(t, 1, n)
	_, err = suits(facts.Static(nil), want(func(s *resources.Scaffold) { s.Source = "https://user:s3cret@h/app" }))
	require.EqualError(t, err, "expected a directory as the source, got a URL")
	reg, err := resource.NewRegistry(Providers(env)...)
	require.NoError(t, err)
	require.Equal(t, []string{"choria"}, reg.ProviderNames(resources.ScaffoldType.Type))
}
