package host_test

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/command"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/host/systembus"
	"github.com/luaccm/ccm/runtime/safepath"
)

func me() safepath.Attr {
	return safepath.Attr{UID: uint32(os.Geteuid()), GID: uint32(os.Getegid()), Mode: 0o640}
}

func TestWriteFile(t *testing.T) {
	h, root := hosttest.New(t, nil)
	syscall.Umask(syscall.Umask(0o077)) // so that the tested mode differs from the default
	require.NoError(t, h.WriteFile("/f", strings.NewReader("one"), me()))
	before, err := h.Lstat("/f")
	require.NoError(t, err)
	require.Equal(t, uint32(0o640), before.Mode)
	require.NoError(t, h.WriteFile("/f", strings.NewReader("two"), me()))
	after, err := h.Lstat("/f")
	require.NoError(t, err)
	require.NotEqual(t, before.Ino, after.Ino, "replaced, not overwritten")
	require.Len(t, hosttest.Snapshot(t, root), 1)
	require.EqualError(t, h.WriteFile("/no/f", strings.NewReader(""), me()), "/no does not exist")
}

// TestConcurrentWriter: a temporary file that a process is writing is not removed as a leftover, and does not keep
// another process from writing.
func TestConcurrentWriter(t *testing.T) {
	h, root := hosttest.New(t, nil)
	first, err := h.Create("/f", me())
	require.NoError(t, err)
	require.NoError(t, h.WriteFile("/f", strings.NewReader("second"), me()))
	_, err = first.Write([]byte("first"))
	require.NoError(t, err)
	require.NoError(t, first.Commit())
	require.NoError(t, first.Discard(), "after Commit it does nothing")
	text, err := os.ReadFile(filepath.Join(root, "f"))
	require.NoError(t, err)
	require.Equal(t, "first", string(text))
	require.Len(t, hosttest.Snapshot(t, root), 1)
}

func TestLongNames(t *testing.T) {
	h, root := hosttest.New(t, nil)
	require.NoError(t, h.WriteFile("/"+strings.Repeat("n", 255), strings.NewReader("x"), me()))
	require.Len(t, hosttest.Snapshot(t, root), 1)
}

func TestLstat(t *testing.T) {
	h, root := hosttest.New(t, nil)
	require.NoError(t, os.WriteFile(filepath.Join(root, "f"), []byte("12345"), 0o604))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(root, "l")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(root, "p"), 0o600))
	for path, kind := range map[string]safepath.FileKind{"/": safepath.Directory, "/f": safepath.Regular, "/l": safepath.Symlink, "/p": safepath.Special, "/x": safepath.Missing, "/f/x": safepath.Missing} {
		info, err := h.Lstat(path)
		require.NoError(t, err)
		require.Equal(t, kind, info.Kind, path)
		// A named pipe does not block a run.
		looked, same, err := h.LookAt(path, "x")
		require.NoError(t, err)
		require.Equal(t, info, looked, path)
		require.False(t, same)
	}
	info, err := h.Lstat("/f")
	require.NoError(t, err)
	require.Equal(t, int64(5), info.Size)
	require.Equal(t, uint32(0o604), info.Mode)
	exists, err := h.Exists("/l")
	require.NoError(t, err)
	require.False(t, exists, "a dangling link does not exist")
	plan := h.Planning(t.Context())
	plan.Overlay().Assume(nil, false, overlay.PathEffect{Path: "/f", Kind: safepath.Regular, Content: new("12345")})
	_, same, err := plan.LookAt("/f", "12345")
	require.NoError(t, err)
	require.True(t, same, "what is assumed counts")
}

func TestLookAt(t *testing.T) {
	h, root := hosttest.New(t, nil)
	big := strings.Repeat("0123456789", 20000)
	require.NoError(t, os.WriteFile(filepath.Join(root, "f"), []byte(big), 0o600))
	source := filepath.Join(t.TempDir(), "s")
	for text, want := range map[string]bool{big: true, big + "x": false, big[1:]: false, big[:len(big)-1] + "x": false, "": false} {
		_, got, err := h.LookAt("/f", text)
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.NoError(t, os.WriteFile(source, []byte(text), 0o600))
		got, err = h.Sources().Matches(t.Context(), "/f", source)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := h.Sources().Matches(t.Context(), "/f", filepath.Dir(source))
	require.ErrorContains(t, err, "expected a file, found a directory")
}

// TestRootHoldsLinks: links that lead out of a root lead back into it.
func TestRootHoldsLinks(t *testing.T) {
	h, root := hosttest.New(t, nil)
	outside := t.TempDir()
	require.NoError(t, os.Symlink(outside, filepath.Join(root, "abs")))
	require.NoError(t, os.Symlink("../../../../../..", filepath.Join(root, "up")))
	require.ErrorContains(t, h.WriteFile("/abs/f", strings.NewReader("x"), me()), "is not a directory")
	require.NoError(t, h.WriteFile("/up/f", strings.NewReader("x"), me()))
	require.FileExists(t, filepath.Join(root, "f"))
	entries, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestMakeDirectory(t *testing.T) {
	h, root := hosttest.New(t, nil)
	attr := me()
	attr.Mode = 0o700
	require.NoError(t, h.MakeDirectory("/a/b/c", attr))
	snap := hosttest.Snapshot(t, root)
	require.Contains(t, snap["a"], "drwxr-xr-x")
	require.Contains(t, snap["a/b/c"], "drwx------")
}

func TestRemove(t *testing.T) {
	h, root := hosttest.New(t, nil)
	require.NoError(t, os.MkdirAll(filepath.Join(root, "d/e"), 0o700))
	require.ErrorIs(t, h.Remove("/d"), syscall.ENOTEMPTY)
	require.NoError(t, h.RemoveTree("/d"))
	require.Empty(t, hosttest.Snapshot(t, root))
	require.EqualError(t, h.RemoveTree("/"), "cannot remove /")
}

func TestSymlinkReplaces(t *testing.T) {
	h, root := hosttest.New(t, nil)
	require.NoError(t, h.Symlink("one", "/l"))
	require.NoError(t, os.Symlink("left behind", filepath.Join(root, ".l.ccm-new")))
	require.NoError(t, h.Symlink("two", "/l"))
	target, err := h.Readlink("/l")
	require.NoError(t, err)
	require.Equal(t, "two", target)
	require.Len(t, hosttest.Snapshot(t, root), 1)
}

func TestRunIsAnEffect(t *testing.T) {
	h := host.New(host.Options{Effect: func(op, what string) error {
		require.Equal(t, "run true", op+" "+what)
		return hosttest.ErrInjected
	}})
	_, err := h.Run(t.Context(), host.Cmd{Argv: []string{"true"}})
	require.True(t, errors.Is(err, hosttest.ErrInjected))
}

func TestDuration(t *testing.T) {
	var d host.Duration
	require.NoError(t, d.UnmarshalText([]byte("1m30s")))
	require.Equal(t, 90*time.Second, time.Duration(d))
	require.EqualError(t, d.UnmarshalText([]byte("30")), `expected a duration such as "30s" or "5m", got "30"`)
	require.EqualError(t, d.UnmarshalText([]byte("-3s")), `expected a duration such as "30s" or "5m", got "-3s"`)
}

// Below another root, the bus of this machine cannot be reached.
func TestBusBelowAnotherRoot(t *testing.T) {
	root := t.TempDir()
	_, err := host.New(host.Options{Root: root}).QueryBus(t.Context(), []systembus.Call{{Method: "x"}})
	require.EqualError(t, err, "system bus not available below "+root)
}

func TestDurationInDays(t *testing.T) {
	var d host.Duration
	for text, want := range map[string]time.Duration{"1d": 24 * time.Hour, "0.5d": 12 * time.Hour, "90s": 90 * time.Second,
		"1w": 7 * 24 * time.Hour, "1w2d12h": (9*24 + 12) * time.Hour, "1d2h": 26 * time.Hour, "0": 0,
	} {
		require.NoError(t, d.UnmarshalText([]byte(text)))
		require.Equal(t, want, time.Duration(d))
	}
	for _, text := range []string{"1h30d", "-1d", "d", "w", "1d1w", "1d-2h", "1.5.2d", "", "99999999w"} {
		require.Error(t, d.UnmarshalText([]byte(text)), text)
	}
}

// TestCommandsBelowARoot: a command enters a root other than / unless it says that it acts on nothing else, or the runner is
// that of a machine with this root. Where it cannot, it is refused.
func TestCommandsBelowARoot(t *testing.T) {
	root := t.TempDir()
	ran := func(o host.Options, c host.Cmd) (seen []host.Cmd, err error) {
		o.Runner = &hosttest.Runner{Answer: func(c host.Cmd) (host.Result, error) {
			seen = append(seen, c)
			return host.Result{}, nil
		}}
		h := host.New(o)
		may := h.MayRun(c)
		_, asked := h.Query(t.Context(), c)
		_, done := h.Run(t.Context(), c)
		require.Equal(t, may, asked)
		require.Equal(t, may, done)
		require.Equal(t, may == nil || c.BelowRoot, h.ActsBelowRoot() || c.BelowRoot)
		return seen, may
	}
	trueCommand, below := host.Cmd{Argv: []string{"true"}}, host.Cmd{Argv: []string{"true"}, BelowRoot: true}
	enters := func(o host.Options, c host.Cmd, root string) {
		t.Helper()
		seen, err := ran(o, c)
		require.NoError(t, err)
		require.Len(t, seen, 2)
		for i, c := range seen {
			require.Equal(t, root, c.Chroot)
			require.Equal(t, root != "" && i == 1, c.NoDaemons)
		}
	}
	foreign := host.Options{Root: root, Foreign: true}
	if command.CanChroot {
		enters(foreign, trueCommand, root)
	} else {
		seen, err := ran(foreign, trueCommand)
		require.EqualError(t, err, "cannot run true below --root: it would act on this machine (run ccm inside, with chroot "+root+")")
		require.Empty(t, seen)
	}
	enters(foreign, below, "")
	enters(host.Options{Root: root}, trueCommand, "")
	for _, o := range []host.Options{{Foreign: true}, {Root: "/", Foreign: true}, {Root: "/..", Foreign: true}} {
		enters(o, trueCommand, "")
	}
}

// TestForeignArchitecture: a plan tells that no command can run in a root for another architecture, unless there is an
// emulator.
func TestForeignArchitecture(t *testing.T) {
	if !command.CanChroot || runtime.GOARCH == "loong64" {
		t.Skip("commands cannot enter such a root here")
	}
	root := t.TempDir()
	elf := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 57)...)
	binary.LittleEndian.PutUint16(elf[16:], 2)   // an executable file
	binary.LittleEndian.PutUint16(elf[18:], 258) // EM_LOONGARCH
	binary.LittleEndian.PutUint32(elf[20:], 1)
	binary.LittleEndian.PutUint16(elf[52:], 64)
	require.NoError(t, os.MkdirAll(filepath.Join(root, "usr/bin"), 0o755))
	require.NoError(t, os.Symlink("usr/bin", filepath.Join(root, "bin")))
	for _, name := range []string{"sh", "tool"} {
		require.NoError(t, os.WriteFile(filepath.Join(root, "bin", name), elf, 0o755))
	}
	missing := errors.New("register an emulator")
	for _, fails := range []error{nil, missing} {
		r := &hosttest.Runner{Answer: func(c host.Cmd) (host.Result, error) {
			require.Equal(t, []string{"/bin/sh", "-c", ":"}, c.Argv)
			return host.Result{}, fails
		}}
		h := host.New(host.Options{Root: root, Foreign: true, Runner: r})
		require.ErrorIs(t, h.Planning(t.Context()).CheckProgram(t.Context(), host.Cmd{Argv: []string{"tool"}}), fails)
		require.Len(t, r.Ran(), 1)
		require.NoError(t, h.CheckProgram(t.Context(), host.Cmd{Argv: []string{"/bin/sh"}, BelowRoot: true}), "it runs on this machine")
	}
}

// TestScratchBelowARoot: a command that enters a root sees the scratch directory that it is to read, and files of the root
// by their paths there.
func TestScratchBelowARoot(t *testing.T) {
	if !command.CanChroot {
		t.Skip("commands cannot enter a root here")
	}
	root := t.TempDir()
	r := &hosttest.Runner{Answer: func(c host.Cmd) (host.Result, error) {
		require.Len(t, c.Binds, 1)
		for from, to := range c.Binds {
			require.Equal(t, []string{"check", "--file=" + to + "/f"}, c.Argv)
			require.Equal(t, filepath.Base(from), filepath.Base(to))
			require.FileExists(t, filepath.Join(from, "f"))
		}
		return host.Result{}, nil
	}}
	v := &host.New(host.Options{Root: root, Foreign: true, Runner: r}).View
	require.NoError(t, v.WithScratch(func(s *host.Scratch) error {
		require.NoError(t, s.WriteFile("f", nil))
		_, err := v.Query(t.Context(), host.Cmd{Argv: []string{"check", "--file=" + s.Path("f")}})
		return err
	}))
	source := filepath.Join(t.TempDir(), "f") // of the user, outside of the root
	require.NoError(t, os.WriteFile(source, nil, 0o600))
	require.NoError(t, v.Sources().ForCommand(source, func(path string) error {
		_, err := v.Query(t.Context(), host.Cmd{Argv: []string{"check", "--file=" + path}})
		return err
	}))
	require.Equal(t, "/etc/x", v.CommandPath(filepath.Join(root, "etc/x")))
	require.Equal(t, "/etc/x", v.CommandPath("/etc/x"))
	require.Len(t, r.Ran(), 2)
}
