package fleet_test

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/signed"
)

// smallDisk mounts a small file system as the directory of a node's bundles.
func (f *fleet) smallDisk(name, size string) (dir string) {
	t := f.t
	if os.Geteuid() != 0 {
		t.Skip("needs root, for a file system that is full")
	}
	dir = filepath.Join(f.dir, name, "cache")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size))
	t.Cleanup(func() {
		if m := f.nodes[name]; m != nil {
			m.stop()
		}
		require.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH))
	})
	return dir
}

// largeSite returns a site with a file that cannot be compressed.
func largeSite(t testing.TB, text string, size int) (dir string) {
	dir = t.TempDir()
	random := make([]byte, size)
	_, _ = rand.Read(random) // never fails
	require.NoError(t, os.WriteFile(filepath.Join(dir, "random"), random, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "site.lua"), []byte(motd(text)), 0o644))
	return dir
}

// If a node's disk is full, its last bundle stays in use, the node reports it, and the stage fails. With free space
// the node takes the release by itself.
func TestDiskOfNodeFull(t *testing.T) {
	f := newFleet(t)
	dir := f.smallDisk("web1", "1m")
	f.startAndRelease("web1", "web2")
	f.releaseOf(f.bundleOf(largeSite(t, "two", 2<<20)), `node == "web1"`)
	f.eventually(func() bool { return f.problem("web1", record.BundleError) != "" })
	a := f.advance()
	require.Equal(t, signed.Stopped, a.State)
	require.Equal(t, []string{"web1"}, a.Stages[0].FailedNodes)
	require.Equal(t, string(record.BundleError), a.Causes[0].Resource)
	require.Contains(t, a.Causes[0].Message, "no space left on device")
	require.Equal(t, "one", f.motd("web1"))
	require.Equal(t, "one", f.motd("web2"))
	f.again("web1")
	f.eventually(func() bool { return f.problem("web1", record.BundleError) == "" || f.state("web1").Outcome == "stable" })
	require.Equal(t, "one", f.motd("web1"), "an agent that begins anew goes on with it too")

	require.NoError(t, syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=64m"))
	_, err := f.controller().Do(t.Context(), "resume", "")
	require.NoError(t, err)
	f.eventually(func() bool { s := f.state("web1"); return s.Release == 2 && !blocked(s) })
	require.Equal(t, "two", f.motd("web1"))
	f.eventually(func() bool { // an older report may have stopped the rollout once more
		if a = f.advance(); a.State == signed.Stopped {
			_, _ = f.controller().Do(t.Context(), "resume", "")
		}
		return a.State == signed.Done
	})
}
