package repl_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// TestSaveThroughLink: root saves in a user's directory, where the user has put links to root's files.
func TestSaveThroughLink(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	const ada = 54321
	dir := t.TempDir()
	for _, sub := range []string{"victim", "ada"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, sub), 0o755))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "victim/secret"), []byte(hosttest.Secret), 0o600))
	require.NoError(t, os.Chown(filepath.Join(dir, "ada"), ada, ada))
	for name, target := range map[string]string{"dir": "../victim", "file": "../victim/secret"} {
		require.NoError(t, os.Symlink(target, filepath.Join(dir, "ada", name)))
		require.NoError(t, os.Lchown(filepath.Join(dir, "ada", name), ada, ada))
	}
	t.Chdir(filepath.Join(dir, "ada"))
	before := hosttest.Snapshot(t, filepath.Join(dir, "victim"))
	for _, save := range []string{".save dir/typed.lua", ".save -f dir/typed.lua", ".save -f dir/secret", ".save -f file"} {
		d, out := newDialog(t)
		require.NoError(t, d.Handle(t.Context(), "x = 1").Err)
		d.Handle(t.Context(), save)
		require.Contains(t, out.String(), "unsafe symbolic link: "+dir+"/ada/", save)
		require.Contains(t, out.String(), " belongs to 54321 and leads to ")
		require.Contains(t, out.String(), ", which belongs to root ")
		require.Equal(t, before, hosttest.Snapshot(t, filepath.Join(dir, "victim")), save)
	}
}
