package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
)

// stage begins a batch of ten files.
func stage(t *testing.T, root string, effect func(op, path string) error) *host.Batch {
	t.Helper()
	b := host.New(host.Options{Root: root, Effect: effect}).Batch()
	for i := range 10 {
		attr := host.Attr{UID: uint32(os.Geteuid()), GID: uint32(os.Getegid()), Mode: []uint32{0o644, 0o400, 0, 0o755}[i%4]}
		require.NoError(t, b.Host().WriteFile(fmt.Sprint("/f", i), strings.NewReader("new"), attr))
	}
	return b
}

func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// A batch that dies leaves nothing: what it writes has no name before it gets its
// place.
func TestBatchLeavesNothing(t *testing.T) {
	root := t.TempDir()
	if f, err := os.OpenFile(root, syscall.O_RDWR|0o20200000, 0o600); err != nil { // O_TMPFILE
		t.Skip(err)
	} else {
		require.NoError(t, f.Close())
	}
	require.NoError(t, os.WriteFile(filepath.Join(root, "f1"), []byte("old"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(root, ".f1.ccm-new"), []byte("left by one that died"), 0o600))
	b := stage(t, root, nil)
	require.Equal(t, []string{".f1.ccm-new", "f1"}, names(t, root))
	placed := 0
	for _, err := range b.Commit(func(int) { placed++ }) {
		require.NoError(t, err)
	}
	require.Equal(t, 10, placed)
	require.Len(t, names(t, root), 10)
	info, err := os.Stat(filepath.Join(root, "f3"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o755), info.Mode())
}

// A file that cannot be given a name can be written by itself.
func TestBatchThatCannotLink(t *testing.T) {
	root := t.TempDir()
	b := stage(t, root, func(op, _ string) error {
		if op == "link" {
			return syscall.EPERM
		}
		return nil
	})
	for _, err := range b.Commit(func(int) {}) {
		if err != nil { // where files have no names
			require.True(t, host.MayDoAlone(err))
		}
	}
	for _, name := range names(t, root) {
		require.NotContains(t, name, "ccm-new")
	}
}
