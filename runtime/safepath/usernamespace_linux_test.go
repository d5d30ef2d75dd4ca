//go:build !portable

package safepath_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/safepath"
)

// TestUserNamespace: in a user namespace, as in rootless containers, root of the machine appears as nobody and owns
// /proc/self. That link is followed, but no other link of nobody to files of this user.
func TestUserNamespace(t *testing.T) {
	const inside = "CCM_TEST_USER_NAMESPACE"
	links := os.Getenv(inside)
	if links == "" {
		uid, gid := os.Getuid(), os.Getgid()
		links = "none"
		if uid == 0 { // root would be root inside as well
			uid, gid = 54321, 54321
			links = theirLink(t, 54322, uid)
		}
		cmd := exec.Command("/proc/self/exe", "-test.run=^TestUserNamespace$", "-test.v") // by /proc/self/exe, because another user may not have access to the path
		cmd.Env = append(os.Environ(), inside+"="+links)
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: gid, Size: 1}},
			Credential:  &syscall.Credential{NoSetGroups: true},
		}
		out, err := cmd.CombinedOutput()
		if cmd.Process == nil {
			t.Skipf("no user namespace: %v", err)
		}
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "--- PASS")
		return
	}
	require.Zero(t, os.Getuid())
	var st syscall.Stat_t
	require.NoError(t, syscall.Lstat("/proc/self", &st))
	require.NotZero(t, st.Uid)
	for _, stepwise := range []bool{false, true} {
		r := &safepath.Resolver{Root: "/", UserName: safepath.UserNumber, Stepwise: stepwise}
		for _, path := range []string{"/proc/self/mounts", "/proc/mounts", "/proc/net/route", "/proc/thread-self/status"} {
			text, err := r.ReadRegular(path, 1<<20)
			require.NoError(t, err, path)
			require.NotEmpty(t, text, path)
		}
		if links != "none" {
			_, err := r.ReadRegular(filepath.Join(links, "link", "file"), 100)
			require.ErrorContains(t, err, "unsafe symbolic link")
		}
	}
}

// theirLink returns a directory of one user with a link in it to a directory of another user.
func theirLink(t *testing.T, their, our int) string {
	t.Helper()
	base, err := os.MkdirTemp("", "ccm-namespace-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(base)) })
	require.NoError(t, os.Chmod(base, 0o755))
	theirs, ours := filepath.Join(base, "theirs"), filepath.Join(base, "ours")
	require.NoError(t, os.Mkdir(theirs, 0o755))
	require.NoError(t, os.Mkdir(ours, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(ours, "file"), []byte("text"), 0o644))
	require.NoError(t, os.Symlink("../ours", filepath.Join(theirs, "link")))
	for _, name := range []string{ours, filepath.Join(ours, "file")} {
		require.NoError(t, os.Lchown(name, our, our))
	}
	for _, name := range []string{theirs, filepath.Join(theirs, "link")} {
		require.NoError(t, os.Lchown(name, their, their))
	}
	return theirs
}
