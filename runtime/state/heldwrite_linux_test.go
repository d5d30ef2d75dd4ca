package state_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/test/tally"
)

// mountFile makes a file of the machine a mount point.
func (b *box) mountFile(t *testing.T, name, content string) string {
	t.Helper()
	source, at := filepath.Join(t.TempDir(), "source"), filepath.Join(b.root, name)
	require.NoError(t, os.WriteFile(source, []byte(content), 0o644))
	require.NoError(t, os.WriteFile(at, nil, 0o644))
	err := unix.Mount(source, at, "", unix.MS_BIND, "")
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		t.Skipf("cannot mount: %v", err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { _ = unix.Unmount(at, unix.MNT_DETACH) }) // the test may have done so
	return at
}

// TestMountPoint: a file resource writes a mount point in place and says so, and restore gives the content back.
func TestMountPoint(t *testing.T) {
	tally.Of(t, "a mount point as target", "it is written in place").Add(1)
	b := newBox(t)
	at := b.mountFile(t, "f", "old")
	id := b.must(file("/f", "new"), file("/g", "beside"))
	require.Equal(t, "new", read(t, at))
	require.Equal(t, "beside", read(t, filepath.Join(b.root, "g")))
	require.Equal(t, event.Changed, b.events[0].Outcome)
	require.Equal(t, "in place, because it is a mount point", b.events[0].Reason)
	require.Empty(t, b.events[1].Reason)
	_, errs := b.restore(id)
	require.Empty(t, errs)
	require.Equal(t, "old", read(t, at))
	noLeftovers(t, b.root)
	entries, err := os.ReadDir(filepath.Join(b.dir, "held"))
	require.NoError(t, err)
	require.Empty(t, entries)

	_, sum, err := b.run(cat(t, absent("/f")))
	require.NoError(t, err)
	require.Equal(t, 1, sum.Of(event.Failed))
	require.Contains(t, b.story(), "is a mount point, which cannot be removed")
}

// TestKilledInPlace ends the write of a mount point at every effect, with a part of the content written if it has
// begun. The next run leaves the old content or completes the new one, and nothing stays in the state directory.
func TestKilledInPlace(t *testing.T) {
	completed := 0
	for n, done := 1, false; !done; n++ {
		b := newBox(t)
		at := b.mountFile(t, "f", "old")
		require.NoError(t, os.MkdirAll(b.dir, 0o700))
		effect, asked := hosttest.Failing(n, 1<<30)
		b.effect = effect
		h := host.New(host.Options{Root: b.root, Effect: effect, Hold: b.store().Work("r").Hold})
		attr := safepath.Attr{UID: uint32(os.Geteuid()), GID: uint32(os.Getegid()), Mode: 0o600}
		err := h.WriteFile("/f", strings.NewReader("the new content"), attr)
		done = asked() < n
		b.effect = nil
		held, _ := filepath.Glob(filepath.Join(b.dir, "held", "r.*.json"))
		want := "old"
		switch {
		case done:
			require.NoError(t, err)
			want = "the new content"
		case len(held) > 0:
			require.NoError(t, os.WriteFile(at, []byte("the n"), 0o600))
			want = "the new content"
			completed++
		case read(t, at) != "old": // it ended when all was written
			want = "the new content"
		}
		b.store().CleanUp()
		require.Equal(t, want, read(t, at), "effect %d: %v", n, err)
		if len(held) > 0 {
			fi, err := os.Stat(at)
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o600), fi.Mode())
			require.Contains(t, strings.Join(b.warned, "\n"), "completed /f, which run r was writing when it was killed")
		}
		entries, err := os.ReadDir(filepath.Join(b.dir, "held"))
		require.True(t, err == nil || errors.Is(err, os.ErrNotExist))
		require.Empty(t, entries)
	}
	require.Positive(t, completed)
}

// TestHeldForAnotherFile: what another file has replaced is not overwritten.
func TestHeldForAnotherFile(t *testing.T) {
	b := newBox(t)
	at := b.mountFile(t, "f", "old")
	require.NoError(t, os.MkdirAll(b.dir, 0o700))
	h := host.New(host.Options{Root: b.root, Hold: b.store().Work("r").Hold, Effect: func(op, _ string) error {
		if op == "overwrite" {
			return hosttest.ErrInjected
		}
		return nil
	}})
	attr := safepath.Attr{UID: uint32(os.Geteuid()), GID: uint32(os.Getegid()), Mode: 0o600}
	require.ErrorIs(t, h.WriteFile("/f", strings.NewReader("new"), attr), hosttest.ErrInjected)
	require.NoError(t, unix.Unmount(at, unix.MNT_DETACH))
	other := b.mountFile(t, "f", "another")
	b.store().CleanUp()
	require.Equal(t, "another", read(t, other))
	require.Contains(t, strings.Join(b.warned, "\n"), "replaced since")
}
