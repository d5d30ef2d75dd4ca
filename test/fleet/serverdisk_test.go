package fleet_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/signed"
)

// diskOfServers mounts a file system for the data of a lab's servers. fill fills it, and free removes the filling.
func diskOfServers(t *testing.T, scratch string) (fill, free func()) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, for a file system that is full")
	}
	dir := filepath.Join(scratch, "store")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4g"))
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	ballast := filepath.Join(dir, "ballast")
	fill = func() {
		f, err := os.Create(ballast)
		require.NoError(t, err)
		defer f.Close()
		block := make([]byte, 1<<20)
		for err == nil {
			_, err = f.Write(block)
		}
		require.ErrorIs(t, err, syscall.ENOSPC)
	}
	return fill, func() { require.NoError(t, os.Remove(ballast)) }
}

// The disks of the servers are full: commands of operators report it, and nodes continue with their release. With
// free space everything works again: acknowledged messages are there, and nodes send what they did meanwhile.
func TestSoakDiskOfServersFull(t *testing.T) {
	soak(t)
	scratch, err := os.MkdirTemp("", "three-")
	require.NoError(t, err)
	fill, free := diskOfServers(t, scratch)
	l := startLab(t, scratch, 3)
	t.Cleanup(l.end)
	f := l.fleet(t)
	f.startAndRelease("web1", "web2")

	fill()
	site := largeSite(t, "two", 8<<20)
	_, stderr, status := l.ccm("fleet", "release", "prod", site, "--sign", f.key.File, "--no-check")
	require.NotZero(t, status)
	require.Contains(t, stderr, "CCM_SITES_prod: ", "it says of what")
	stdout, _, status := l.ccm("fleet", "check")
	require.Equal(t, 4, status)
	require.Contains(t, stdout, "JetStream is disabled (a full disk does that)")
	f.drift("web1")
	f.again("web1")
	f.eventually(func() bool { return f.motd("web1") == "one" })

	// With free space restarted servers have all streams.
	free()
	l.killAll()
	l.startAll(t)
	f.settled()
	waitFor(t, "ccm fleet check to find nothing", func() error {
		stdout, stderr, status := l.ccm("fleet", "check")
		if status != 0 {
			return fmt.Errorf("%s%s", stdout, stderr)
		}
		return nil
	})
	f.release(motd("two"))
	require.Equal(t, signed.Done, f.advance().State)
	for name := range f.nodes {
		require.Equal(t, "two", f.motd(name))
	}
	// The file was made, drifted while the servers stored nothing, and was made again: both are reported.
	f.eventually(func() bool { return len(f.changes("web1")) == 3 })
}
