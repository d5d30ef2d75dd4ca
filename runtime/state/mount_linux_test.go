package state_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/test/tally"
)

// mounted returns a directory on its own file system of 64 KiB.
func mounted(t *testing.T) string {
	if os.Geteuid() != 0 {
		t.Skip("only root can mount")
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k,mode=755"); err != nil {
		t.Skipf("mount: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	return dir
}

func TestReadOnlyFileSystem(t *testing.T) {
	tally.Of(t, "a read-only file system", "the same").Add(1)
	b := newBox(t)
	b.root = mounted(t)
	b.write("a", "old", 0o640)
	require.NoError(t, syscall.Mount("", b.root, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	before := hosttest.Snapshot(t, b.root)
	_, sum, err := b.run(cat(t, file("/a", "new"), file("/b", ""), absent("/a2"), Dir("/d", "0755")))
	require.NoError(t, err)
	require.Equal(t, 3, sum.Of(event.Failed))
	for _, e := range b.events {
		if e.Err != nil {
			require.ErrorIs(t, e.Err, syscall.EROFS)
		}
	}
	require.Equal(t, before, hosttest.Snapshot(t, b.root))
}

// TestUndoOfMountPoint: directories made by a run stay while a file system, empty or not, is mounted on them; that is
// reported differently from failures.
func TestUndoOfMountPoint(t *testing.T) {
	b := newBox(t)
	b.root = mounted(t)
	id := b.must(Dir("/a", "0755"), Dir("/a/point", "0755"))
	point := filepath.Join(b.root, "a/point")
	require.NoError(t, syscall.Mount("tmpfs", point, "tmpfs", 0, "size=64k"))
	for _, used := range []bool{false, true} {
		if used {
			b.write("a/point/file", "of somebody", 0o600)
		}
		_, errs := b.restore(id)
		require.Len(t, errs, 2)
		for _, err := range errs {
			mounted, ok := errors.AsType[*state.MountedError](err)
			require.True(t, ok, err)
			require.Equal(t, "/a/point", mounted.At)
		}
	}
	require.NoError(t, syscall.Unmount(point, 0))
	_, errs := b.restore(id)
	require.Empty(t, errs)
}
