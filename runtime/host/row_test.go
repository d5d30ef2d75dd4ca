package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// A row sees what single looks see, wherever the files are.
func TestRow(t *testing.T) {
	h, root := hosttest.New(t, nil)
	for _, dir := range []string{"a", "b", "b/c"} {
		require.NoError(t, os.Mkdir(filepath.Join(root, dir), 0o755))
		for i := range 4 {
			require.NoError(t, os.WriteFile(filepath.Join(root, dir, fmt.Sprint(i)), []byte(fmt.Sprint(dir, i)), 0o600))
		}
	}
	require.NoError(t, os.Symlink("a", filepath.Join(root, "link")))
	require.NoError(t, os.Symlink("a/1", filepath.Join(root, "b", "2link")))
	row, end := h.Row()
	defer end()
	for _, x := range []struct {
		path, want string
		same       bool
	}{
		{"/a/0", "a0", true}, {"/a/1", "a1", true}, {"/a/2", "a1", false}, {"/a/none", "", false}, {"/a/3", "a3", true},
		{"/b/0", "b0", true}, {"/a/0", "a0", true}, {"/b/1", "b1", true}, {"/b/2", "b2", true}, {"/b/2link", "a1", false},
		{"/b/c/0", "b/c0", true}, {"/b/c/1", "b/c1", true}, {"/b/c", "", false},
		{"/link/0", "a0", true}, {"/link/1", "a1", true}, {"/link/2", "a2", true},
		{"/none/0", "", false}, {"/none/1", "", false}, {"/none/2", "", false}, {"/a/0/x", "", false}, {"/a/0/y", "", false},
		{"/a", "", false}, {"/b", "", false}, {"/b", "", false},
	} {
		info, same, err := row.LookAt(x.path, x.want)
		require.NoError(t, err)
		alone, sameAlone, err := h.LookAt(x.path, x.want)
		require.NoError(t, err)
		require.Equal(t, x.same, same, x.path)
		require.Equal(t, sameAlone, same, x.path)
		require.Equal(t, alone, info, x.path)
	}
}
