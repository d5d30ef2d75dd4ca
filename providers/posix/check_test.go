package posix

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/test/tally"
)

// checker is a machine with two commands: check FILE checks a file, and verify checks the file f of the machine. Both
// fail if the file contains "bad".
type checker struct {
	root string
	seen []string // what check was shown, with its mode
	last string   // the path that it was shown
}

func (c *checker) runner() host.Runner {
	return &hosttest.Runner{Answer: func(cmd host.Cmd) (host.Result, error) {
		path := filepath.Join(c.root, "f")
		if cmd.Argv[0] == "check" {
			path = cmd.Argv[2]
			c.last = path
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return host.Result{}, err
		}
		fi, err := os.Stat(path)
		if err != nil {
			return host.Result{}, err
		}
		c.seen = append(c.seen, cmd.Argv[0]+" "+fi.Mode().String()+" "+string(text))
		if strings.Contains(string(text), "bad") {
			return host.Result{Code: 3, Stderr: []byte("line 1: bad\n")}, nil
		}
		return host.Result{}, nil
	}}
}

func checked(content string) resources.File {
	owner, group := hosttest.Me()
	return resources.File{
		Name: "/f", Ensure: resources.FilePresent, Content: &content, Owner: owner, Group: group, Mode: new(resources.ModeOf(0o640)),
	}
}

// converge reads the status, and performs the decision.
func converge(t *testing.T, h *host.Host, want resources.File) error {
	t.Helper()
	have, err := files{}.Status(t.Context(), &h.View, want)
	require.NoError(t, err)
	for _, a := range want.Decide(have).Actions {
		if err := want.Perform(t.Context(), h, files{}, a); err != nil {
			return err
		}
	}
	have, err = files{}.Status(t.Context(), &h.View, want)
	require.NoError(t, err)
	require.Empty(t, want.Decide(have).Diff)
	return nil
}

func TestValidate(t *testing.T) {
	root := t.TempDir()
	c := &checker{root: root}
	h := host.New(host.Options{Root: root, Runner: c.runner()})
	want := checked("good")
	want.Check = []string{"check -f %s"}
	require.NoError(t, want.Validate())
	require.NoError(t, converge(t, h, want))
	require.Equal(t, []string{"check -rw-r----- good"}, c.seen, "it has its mode before it is looked at")
	require.Equal(t, root, filepath.Dir(c.last), "it is in the directory of the file")
	before := hosttest.Snapshot(t, root)
	stat, err := os.Stat(filepath.Join(root, "f"))
	require.NoError(t, err)

	bad := checked("bad")
	bad.Check = want.Check
	err = converge(t, h, bad)
	require.ErrorContains(t, err, "validate: check -f ")
	require.ErrorContains(t, err, "exit status 3: line 1: bad")
	require.Equal(t, before, hosttest.Snapshot(t, root))
	now, err := os.Stat(filepath.Join(root, "f"))
	require.NoError(t, err)
	require.True(t, os.SameFile(stat, now), "the file was not touched")

	// A file that is not replaced is not checked.
	c.seen = nil
	want.Mode = new(resources.ModeOf(0o600))
	require.NoError(t, converge(t, h, want))
	require.Empty(t, c.seen)
}

func TestValidateInPlan(t *testing.T) {
	root := t.TempDir()
	c := &checker{root: root}
	h := host.New(host.Options{Root: root, Runner: c.runner()})
	for content, wanted := range map[string]string{"good": "", "bad": "exit status 3: line 1: bad"} {
		want := checked(content)
		want.Check = []string{"check -f %s"}
		caveat, err := files{}.Predict(t.Context(), h.Planning(t.Context()), want)
		require.Empty(t, caveat)
		if wanted == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, wanted)
		}
		require.NotEqual(t, root, filepath.Dir(c.last))
		require.NoFileExists(t, c.last)
	}
	want := checked("bad")
	want.CheckAfter = []string{"verify"}
	caveat, err := files{}.Predict(t.Context(), h.Planning(t.Context()), want)
	require.NoError(t, err)
	require.Equal(t, "a plan does not run validate_after", caveat)
	require.Empty(t, hosttest.Snapshot(t, root))
}

func TestValidateAfter(t *testing.T) {
	for name, x := range map[string]struct {
		start func(path string) error
		want  resources.File
	}{
		"content": {func(path string) error { return os.WriteFile(path, []byte("old"), 0o600) }, checked("bad")},
		"mode":    {func(path string) error { return os.WriteFile(path, []byte("bad"), 0o600) }, checked("bad")},
		"made":    {func(string) error { return nil }, checked("bad")},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			c := &checker{root: root}
			h := host.New(host.Options{Root: root, Runner: c.runner()})
			require.NoError(t, x.start(filepath.Join(root, "f")))
			before := hosttest.Snapshot(t, root)
			want := x.want
			want.CheckAfter = []string{"verify"}
			require.NoError(t, want.Validate())
			require.EqualError(t, converge(t, h, want), "validate_after: verify: exit status 3: line 1: bad")
			require.Equal(t, before, hosttest.Snapshot(t, root))
			require.Equal(t, []string{"verify -rw-r----- bad"}, c.seen)

			want = checked("good")
			want.CheckAfter = []string{"verify"}
			require.NoError(t, converge(t, h, want))
			require.Equal(t, map[string]string{"f": hosttest.Snapshot(t, root)["f"]}, hosttest.Snapshot(t, root))
		})
	}
}

// TestValidateAfterRemoval: a removed file is restored if the check fails without it.
func TestValidateAfterRemoval(t *testing.T) {
	for name, start := range map[string]func(path string) error{
		"file": func(path string) error { return os.WriteFile(path, []byte("old"), 0o600) },
		"link": func(path string) error { return os.Symlink("../available/f", path) },
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			path := filepath.Join(root, "f")
			code := 1
			answer := func(c host.Cmd) (host.Result, error) {
				_, err := os.Lstat(path)
				require.ErrorIs(t, err, os.ErrNotExist, "it is asked once the file is gone")
				return host.Result{Code: code, Stderr: []byte("still needed\n")}, nil
			}
			h := host.New(host.Options{Root: root, Runner: &hosttest.Runner{Answer: answer}})
			require.NoError(t, start(path))
			before, stat := hosttest.Snapshot(t, root), lstat(t, path)
			want := resources.File{Name: "/f", Ensure: resources.FileAbsent, CheckAfter: []string{"verify"}}
			require.NoError(t, want.Validate())
			require.EqualError(t, converge(t, h, want), "validate_after: verify: exit status 1: still needed")
			require.Equal(t, before, hosttest.Snapshot(t, root))
			require.True(t, os.SameFile(stat, lstat(t, path)), "it is the very file")

			// A run that dies at any effect leaves a question that the next one asks.
			for n, done := 1, false; !done; n++ {
				effect, asked := hosttest.Failing(n, 1<<30)
				dead := host.New(host.Options{Root: root, Runner: &hosttest.Runner{Answer: answer}, Effect: effect})
				require.Error(t, want.Perform(t.Context(), dead, files{}, want.Decide(status(t, dead, want)).Actions[0]))
				done = asked() < n
				require.Error(t, converge(t, h, want))
				require.Equal(t, before, hosttest.Snapshot(t, root), "after a kill at effect %d", n)
			}
			code = 0
			require.NoError(t, converge(t, h, want))
			require.Empty(t, hosttest.Snapshot(t, root))
			require.NoError(t, converge(t, h, want), "nobody is asked about what is gone already")
		})
	}
	root := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(root, "f"), 0o755))
	h := host.New(host.Options{Root: root})
	want := resources.File{Name: "/f", Ensure: resources.FileAbsent, CheckAfter: []string{"verify"}}
	require.EqualError(t, want.Decide(status(t, h, want)).Err,
		"validate_after: expected a file or a symbolic link to remove, found a directory, which cannot be restored")
}

func lstat(t *testing.T, path string) os.FileInfo {
	fi, err := os.Lstat(path)
	require.NoError(t, err)
	return fi
}

// TestValidateAfterKill kills the process at every effect: the next run checks a file that was not checked, and
// restores the old one if necessary.
func TestValidateAfterKill(t *testing.T) {
	tries := tally.Of(t, "the process ends between the swap and `validate_after`", "the next run asks, and puts back the old file")
	for _, start := range []string{"old", ""} {
		for n, done := 1, false; !done; n++ {
			root := t.TempDir()
			path := filepath.Join(root, "f")
			if start != "" {
				require.NoError(t, os.WriteFile(path, []byte(start), 0o640))
			}
			before := hosttest.Snapshot(t, root)
			tries.Add(1)
			c := &checker{root: root}
			effect, asked := hosttest.Failing(n, 1<<30)
			dead := host.New(host.Options{Root: root, Runner: c.runner(), Effect: effect})
			want := checked("bad")
			want.CheckAfter = []string{"verify"}
			require.Error(t, want.Perform(t.Context(), dead, files{}, want.Decide(status(t, dead, want)).Actions[0]))
			done = asked() < n

			h := host.New(host.Options{Root: root, Runner: c.runner()})
			require.Error(t, converge(t, h, want))
			require.Equal(t, before, hosttest.Snapshot(t, root), "after a kill at effect %d", n)
			// Once the check succeeds, the file is final, and no leftovers remain.
			want = checked("good")
			want.CheckAfter = []string{"verify"}
			require.NoError(t, converge(t, h, want))
			require.Len(t, hosttest.Snapshot(t, root), 1)
		}
	}
}

func status(t *testing.T, h *host.Host, want resources.File) resources.FileState {
	have, err := files{}.Status(t.Context(), &h.View, want)
	require.NoError(t, err)
	return have
}
