package host_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
)

// TestLimitAllTimes: nothing below the root is later, but a file outside that a hard link in the root leads to stays as it
// is.
func TestLimitAllTimes(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.MkdirAll(at("root/a/b"), 0o755))
	for _, name := range []string{"outside", "root/a/file", "root/a/b/file"} {
		require.NoError(t, os.WriteFile(at(name), nil, 0o644))
	}
	require.NoError(t, os.Link(at("root/a/file"), at("root/a/b/link")))
	require.NoError(t, os.Link(at("outside"), at("root/shared")))
	require.NoError(t, os.Symlink(at("outside"), at("root/symlink")))
	date := time.Unix(1700000000, 0)
	require.NoError(t, host.New(host.Options{Root: at("root")}).LimitAllTimes(t.Context(), date))
	for name, limited := range map[string]bool{
		"root": true, "root/a": true, "root/a/b": true, "root/a/file": true, "root/a/b/file": true, "root/a/b/link": true, "root/symlink": true,
		"outside": false, "root/shared": false, ".": false,
	} {
		fi, err := os.Lstat(at(name))
		require.NoError(t, err)
		require.Equal(t, limited, fi.ModTime().Equal(date), name)
	}
}
