package testsystem

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// fake is a driver whose systems are directories: commands run on this machine, with the directory in $SYSTEM.
type fake struct{}

type fakeSystem struct{ record *Record }

func (fake) Name() string { return "fake" }
func (fake) Check() error { return nil }
func (fake) Make(ctx context.Context, r *Record) (System, error) {
	s := &fakeSystem{r}
	return s, s.Restore(ctx)
}
func (fake) Attach(_ context.Context, r *Record) (System, error) { return &fakeSystem{r}, nil }
func (fake) Reclaim(*Record) error                               { return nil }

func (s *fakeSystem) Exec(ctx context.Context, c Cmd) (int, error) {
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	cmd.Env = append(environ(c, ""), "SYSTEM="+filepath.Join(s.record.dir(), "root"))
	return runCommand(ctx, cmd, c)
}
func (s *fakeSystem) Snapshot(ctx context.Context) error {
	return (&rootSystem{record: s.record}).Snapshot(ctx)
}
func (s *fakeSystem) Restore(ctx context.Context) error {
	root := filepath.Join(s.record.dir(), "root")
	if err := os.RemoveAll(root); err != nil {
		return err
	}
	if _, err := os.Stat(root + ".snapshot"); err == nil {
		return copyTree(ctx, root+".snapshot", root)
	}
	return os.MkdirAll(filepath.Join(root, "var"), 0o755)
}
func (s *fakeSystem) Reboot(context.Context) error { return nil }
func (s *fakeSystem) Keep(context.Context) error   { return nil }
func (s *fakeSystem) Remove(context.Context) error { return nil }

// contract is what is asked of every driver.
func contract(t *testing.T, d Driver, target Target) {
	t.Helper()
	if err := d.Check(); err != nil {
		t.Skip(err)
	}
	ctx := t.Context()
	p := NewPool(t.TempDir(), []Driver{d})
	s, r, err := p.Start(ctx, target, d)
	require.NoError(t, err)
	ended := false
	t.Cleanup(func() {
		if !ended {
			require.NoError(t, p.End(context.Background(), s, r, false))
		}
	})
	sh := func(script string) string {
		t.Helper()
		out, err := Output(ctx, s, "sh", "-c", script)
		require.NoError(t, err)
		return out
	}

	// Commands: their streams, environment and status.
	var out, problem bytes.Buffer
	code, err := s.Exec(ctx, Cmd{Argv: []string{"sh", "-c", `read -r x; echo "$x $HOME $GREETING $1"; echo lost >&2; exit 3`, "sh", "a  b"},
		Env: []string{"GREETING=good day"}, Stdin: strings.NewReader("in\n"), Stdout: &out, Stderr: &problem})
	require.NoError(t, err)
	require.Equal(t, 3, code)
	require.Equal(t, "in /root good day a  b\n", out.String())
	require.Equal(t, "lost\n", problem.String())
	_, err = Output(ctx, s, "sh", "-c", "echo first >&2; echo second >&2; exit 4")
	require.EqualError(t, err, "sh: exit status 4: second")
	ended4, cancel := context.WithCancelCause(ctx)
	cancel(errors.New("interrupted"))
	_, err = s.Exec(ended4, Cmd{Argv: []string{"sh", "-c", ":"}})
	require.ErrorContains(t, err, "interrupted")

	// Files: copied with their mode, and restored.
	large := strings.Repeat("0123456789abcdef", 1<<16)
	place := strings.TrimSpace(sh(`echo "$SYSTEM"`)) + "/var/lib/test/deep/file"
	require.NoError(t, Copy(ctx, s, strings.NewReader(large), place, "750"))
	require.Equal(t, fmt.Sprintf("%d -rwxr-x---\n", len(large)), sh("wc -c < "+place+" | tr '\\n' ' '; set -- $(ls -l "+place+"); echo $1"))
	require.NoError(t, s.Snapshot(ctx))
	sh("echo changed > " + place + "; echo new > " + place + ".2")
	require.NoError(t, s.Restore(ctx))
	require.Equal(t, fmt.Sprintf("%d\nnone\n", len(large)), sh("wc -c < "+place+"; cat "+place+".2 2>/dev/null || echo none"))

	// What a reboot keeps.
	sh("echo kept > " + place)
	if err := s.Reboot(ctx); !errors.Is(err, ErrNoInit) {
		require.NoError(t, err)
	}
	require.Equal(t, "kept\n", sh("cat "+place))

	// Another process sees the system only when it is kept.
	_, _, err = p.Attach(ctx, r.Name)
	require.ErrorContains(t, err, `no such kept system "`+r.Name+`"`)
	removed, err := p.Reclaim()
	require.NoError(t, err)
	require.Empty(t, removed, "a system in use was removed")
	require.NoError(t, p.End(ctx, s, r, true))
	names, err := p.Kept()
	require.NoError(t, err)
	require.Equal(t, []string{r.Name}, names)
	removed, err = p.Reclaim()
	require.NoError(t, err)
	require.Empty(t, removed, "a kept system was removed")
	s, r, err = p.Attach(ctx, r.Name)
	require.NoError(t, err)
	require.Equal(t, "kept\n", sh("cat "+place))

	ended = true
	require.NoError(t, p.End(ctx, s, r, false))
	left, err := os.ReadDir(filepath.Join(p.Dir, "run"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestFake(t *testing.T) { contract(t, fake{}, Target{Name: "fake:1", Driver: "fake", Arg: "1"}) }

// clean checks that a variable of this process is not one of commands in a system.
func clean(t *testing.T, d Driver, target Target) {
	t.Helper()
	t.Setenv("CCM_STATE_DIR", "/nowhere")
	p := NewPool(t.TempDir(), []Driver{d})
	s, r, err := p.Start(t.Context(), target, d)
	require.NoError(t, err)
	out, err := Output(t.Context(), s, "sh", "-c", `echo "$HOME $CCM_STATE_DIR."`)
	require.NoError(t, err)
	require.Equal(t, "/root .\n", out)
	require.NoError(t, p.End(t.Context(), s, r, false))
}

func TestRoot(t *testing.T) {
	root := hosttest.Image(t, "env", "sh", "cat", "mkdir", "chmod", "mv", "wc", "tr", "ls")
	if _, err := (&rootSystem{record: &Record{Name: "x-1", pool: &Pool{Dir: root}}}).Exec(t.Context(), Cmd{Argv: []string{"sh"}}); err != nil {
		if strings.Contains(err.Error(), "no namespaces") {
			t.Skip(err)
		}
	}
	target, err := ParseTarget("root:" + root)
	require.NoError(t, err)
	contract(t, rootDriver{}, target)
	clean(t, rootDriver{}, target)
}
