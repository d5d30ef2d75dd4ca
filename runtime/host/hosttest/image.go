package hosttest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// PublicDir returns a new directory for the time of the test, which every user can enter, as t.TempDir is not.
func PublicDir(t testing.TB) string {
	t.Helper()
	made := t.TempDir()
	for dir := made; ; dir = filepath.Dir(dir) { // up to the first that everybody can enter, / at the latest
		info, err := os.Stat(dir)
		require.NoError(t, err)
		if dir != made && info.Mode().Perm()&0o005 == 0o005 {
			return made
		}
		require.NoError(t, os.Chmod(dir, 0o755))
	}
}

// Image returns a directory with a small system: programs of this machine with their libraries, and the directories
// that every system has. Everybody can read it. The test is skipped if a program or its libraries are not known here.
func Image(t testing.TB, programs ...string) string {
	t.Helper()
	ldd, err := exec.LookPath("ldd")
	if err != nil {
		t.Skip(err)
	}
	root := PublicDir(t)
	for _, dir := range []string{"bin", "dev", "etc", "proc", "root", "run", "sys", "tmp", "usr/sbin", "var"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	put := func(from, to string) {
		text, err := os.ReadFile(from)
		require.NoError(t, err)
		to = filepath.Join(root, to)
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
		require.NoError(t, os.WriteFile(to, text, 0o755))
		require.NoError(t, os.Chmod(to, 0o755)) // whatever the umask
	}
	for _, name := range programs {
		file, err := exec.LookPath(name)
		if err != nil {
			t.Skip(err)
		}
		put(file, "/bin/"+name)
		libraries, err := exec.Command(ldd, file).Output()
		if err != nil {
			continue // it has none
		}
		for _, m := range regexp.MustCompile(`/\S+`).FindAllString(string(libraries), -1) {
			put(m, m)
		}
	}
	return root
}
