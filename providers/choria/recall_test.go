package choria

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/command"
	"github.com/luaccm/ccm/runtime/resource"
)

// TestRecall: with the recorded desired state, Recall returns the same state as Status, without templates.
func TestRecall(t *testing.T) {
	texts := map[string]string{"a": "one [[ facts.hostname ]]", "d/b \n": "two", "d/run.sh": "three", "empty/": "", "d/deep/": "", "_partials/x": "x"}
	for name, s := range map[string]resources.Scaffold{
		"present": want(nil),
		"purge":   want(func(s *resources.Scaffold) { s.Purge = true }),
		"post":    want(func(s *resources.Scaffold) { s.Post = []map[string]string{{"*.sh": "chmod 0750 {}"}} }),
		"absent":  want(func(s *resources.Scaffold) { s.Ensure = resources.ScaffoldAbsent }),
	} {
		t.Run(name, func(t *testing.T) {
			s.Source = files(t, t.TempDir(), texts)
			there := s
			there.Ensure = resources.ScaffoldPresent
			for does, change := range map[string]func(dir string) error{
				"nothing":        func(string) error { return nil },
				"edit":           func(dir string) error { return os.WriteFile(filepath.Join(dir, "a"), []byte("by hand"), 0o644) },
				"remove":         func(dir string) error { return os.Remove(filepath.Join(dir, "d/b \n")) },
				"remove empty":   func(dir string) error { return os.Remove(filepath.Join(dir, "empty")) },
				"remove all":     os.RemoveAll,
				"add":            func(dir string) error { return os.WriteFile(filepath.Join(dir, "d/more"), nil, 0o644) },
				"mode":           func(dir string) error { return os.Chmod(filepath.Join(dir, "d/run.sh"), 0o600) },
				"a link":         func(dir string) error { p := filepath.Join(dir, "a"); return firstOf(os.Remove(p), os.Symlink("/", p)) },
				"a directory":    func(dir string) error { p := filepath.Join(dir, "a"); return firstOf(os.Remove(p), os.Mkdir(p, 0o755)) },
				"a file instead": func(dir string) error { return firstOf(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o644)) },
			} {
				if name != "present" && !slices.Contains([]string{"edit", "add", "mode"}, does) {
					continue // they render for long
				}
				m := newMachine(t, map[string]string{"etc/": ""})
				m.Host = host.New(host.Options{Root: m.root, Runner: command.Exec{}}) // which runs commands
				require.NoError(t, m.converge(t, there))
				wish := m.state(t, s).DesiredDigest()
				require.NotEmpty(t, wish)
				require.NoError(t, change(filepath.Join(m.root, "etc/app")))
				now := m.state(t, s)
				now.Rendered = ""
				elsewhere := s
				elsewhere.Source = "/nowhere"
				then, err := m.p.Recall(t.Context(), &m.View, elsewhere, wish)
				require.NoError(t, err)
				require.Equal(t, now, then, does)
				require.Equal(t, s.Decide(now), elsewhere.Decide(then), does)
			}
		})
	}
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// A missing or damaged record gives no state.
func TestRecallOfNothing(t *testing.T) {
	m := newMachine(t, map[string]string{"etc/app/x": ""})
	_, err := m.p.Recall(t.Context(), &m.View, want(nil), resource.DesiredDigest{})
	require.ErrorAs(t, err, new(*resource.UnknownError))
	_, err = m.p.Recall(t.Context(), &m.View, want(nil), resource.DesiredDigest{Text: strings.Repeat("a", 64)})
	require.ErrorAs(t, err, new(*resource.UnknownError), "an older version recorded no more of secrets")
	for _, wish := range []string{"junk", "0644 abc\n", "0644 abc \"x", "08 abc \"x\"\n", "directory x\n", "0644\n"} {
		_, err := m.p.Recall(t.Context(), &m.View, want(nil), resource.DesiredDigest{Text: wish})
		require.ErrorContains(t, err, "cannot read rendered files:", "%q", wish)
	}
	// A target that is absent, and is to be absent, needs no record.
	gone := want(func(s *resources.Scaffold) { s.Name, s.Ensure = "/etc/gone", resources.ScaffoldAbsent })
	have, err := m.p.Recall(t.Context(), &m.View, gone, resource.DesiredDigest{})
	require.NoError(t, err)
	require.True(t, gone.Decide(have).Stable())
}
