package unpack_test

import (
	"archive/tar"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/host/unpack"
)

// Leading directories are stripped from names and from targets of hard links, but not from targets of symbolic links:
// as with tar --strip-components.
func TestExtractStrip(t *testing.T) {
	entries := []hosttest.ArchiveEntry{
		dir("app-1.0/", 0o755), file("app-1.0/README", "r"), file("top", "t"),
		{Header: tar.Header{Name: "app-1.0/bin/app", Mode: 0o755}, Body: "#!"},
		hardLink("app-1.0/bin/app2", "app-1.0/bin/app"), Link("app-1.0/current", "bin"),
	}
	one := map[string]string{
		"README": "-rw-r--r-- r", "bin": "drwxr-xr-x", "bin/app": "-rwxr-xr-x #!", "bin/app2": "-rwxr-xr-x #!", "current": "Lrwxrwxrwx → bin",
	}
	for strip, want := range map[int]map[string]string{1: one, 2: {"app": "-rwxr-xr-x #!", "app2": "-rwxr-xr-x #!"}} {
		root, err := extract(t, "a.tar", hosttest.Tar(t, entries...), unpack.Options{Strip: strip, MaxEntries: 10})
		require.NoError(t, err)
		require.Equal(t, want, below(t, root+"/opt/app"))
	}
	_, err := extract(t, "a.tar", hosttest.Tar(t, entries...), unpack.Options{Strip: 3})
	require.EqualError(t, err, "no entry in the archive is 3 directories deep")
}

// A path that points outside of the directory still does so after stripping.
func TestExtractStripHostile(t *testing.T) {
	for _, tt := range []struct {
		entries []hosttest.ArchiveEntry
		want    string
	}{
		{[]hosttest.ArchiveEntry{file("a/../../evil", "x")}, `is a path with ..`},
		{[]hosttest.ArchiveEntry{file("/a/evil", "x")}, `is an absolute path`},
		{[]hosttest.ArchiveEntry{Link("a/l", "../x"), file("a/l/evil", "x")}, `is a path below l, which is a symbolic link`},
		{[]hosttest.ArchiveEntry{Link("a/l", "../x")}, `points outside of the directory`},
		{[]hosttest.ArchiveEntry{file("a", "x"), hardLink("b/h", "a")}, `is not a file earlier in the archive`},
		{[]hosttest.ArchiveEntry{file("a/.a.tar.ccm-extract/x", "x")}, `is a path in the directory for unpacking`},
		{[]hosttest.ArchiveEntry{file("a/x", "x"), file("a/y", "y"), file("z", "z")}, `exceeds the limit of 2 entries`},
	} {
		root, err := extract(t, "a.tar", hosttest.Tar(t, tt.entries...), unpack.Options{Strip: 1, MaxEntries: 2})
		require.ErrorContains(t, err, tt.want)
		require.NotContains(t, below(t, root), "opt")
	}
}
