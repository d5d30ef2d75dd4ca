package posix

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
)

// A user could write to a file after the comparison, so a file that changes its owner to root is replaced by a new
// one.
func TestFileThatIsTakenFromAUserIsWrittenAnew(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	root := t.TempDir()
	path := filepath.Join(root, "tool")
	require.NoError(t, os.WriteFile(path, []byte("text"), 0o644))
	require.NoError(t, os.Chown(path, 54321, 54321))
	h := host.New(host.Options{Root: root})
	his, err := h.Lstat("/tool")
	require.NoError(t, err)
	var mode resources.Mode
	require.NoError(t, mode.UnmarshalText([]byte("0755")))
	content := "text"
	want := resources.File{Name: "/tool", Ensure: resources.FilePresent, Content: &content, Owner: "0", Group: "0", Mode: &mode}
	require.NoError(t, files{}.Store(t.Context(), h, want))
	now, err := h.Lstat("/tool")
	require.NoError(t, err)
	require.NotEqual(t, his.Ino, now.Ino)
	require.Zero(t, now.UID)
	require.Equal(t, uint32(0o755), now.Mode)
}
