//go:build !portable

package safepath_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/safepath"
)

// TestOldKernels: without openat2 (before Linux 5.6) and fchmodat2 (before 6.6), paths lead to the same files, the
// same links are refused, and modes are set the same.
func TestOldKernels(t *testing.T) {
	const inside = "CCM_TEST_OLD_KERNEL"
	if os.Getenv(inside) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestOldKernels$", "-test.v")
		cmd.Env = append(os.Environ(), inside+"=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		if strings.Contains(string(out), "--- SKIP") {
			t.Skipf("%s", out)
		}
		return
	}
	if err := hosttest.RefuseCalls(unix.SYS_OPENAT2, unix.SYS_FCHMODAT2); err != nil {
		t.Skipf("seccomp: %v", err)
	}
	_, err := unix.Openat2(unix.AT_FDCWD, "/", &unix.OpenHow{Flags: unix.O_PATH})
	require.ErrorIs(t, err, unix.ENOSYS)
	require.ErrorIs(t, unix.Fchmodat(unix.AT_FDCWD, "/", 0o755, unix.AT_SYMLINK_NOFOLLOW), unix.EOPNOTSUPP)

	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	file := filepath.Join(dir, "a", "f")
	require.NoError(t, os.Mkdir(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte("text"), 0o600))
	require.NoError(t, os.Symlink("a", filepath.Join(dir, "l")))
	r := &safepath.Resolver{Root: "/", UserName: safepath.UserNumber}
	for _, path := range []string{file, filepath.Join(dir, "l", "f")} {
		text, err := r.ReadRegular(path, 100)
		require.NoError(t, err, path)
		require.Equal(t, "text", string(text))
	}
	fd, err := r.Open(file, unix.O_PATH)
	require.NoError(t, err)
	d, err := safepath.NewHandle(fd, file)
	require.NoError(t, err)
	defer d.Close()
	require.NoError(t, d.Chmod(0o640))
	fi, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), fi.Mode())
	if os.Geteuid() == 0 { // a user's link to a file of another user
		theirs := filepath.Join(dir, "theirs")
		require.NoError(t, os.Mkdir(theirs, 0o755))
		require.NoError(t, os.Symlink(filepath.Dir(file), filepath.Join(theirs, "l")))
		require.NoError(t, os.Lchown(filepath.Join(theirs, "l"), 54321, 54321))
		require.NoError(t, os.Lchown(theirs, 54321, 54321))
		_, err = r.ReadRegular(filepath.Join(theirs, "l", "f"), 100)
		require.ErrorContains(t, err, "unsafe symbolic link")
	}
}
