package host_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/sha256sum"
)

func rels(entries []safepath.TreeEntry) map[string]safepath.FileKind {
	m := make(map[string]safepath.FileKind)
	for _, e := range entries {
		m[e.Rel] = e.Kind
	}
	return m
}

func TestTree(t *testing.T) {
	h, root := hosttest.New(t, nil)
	require.NoError(t, os.MkdirAll(root+"/top/d/e", 0o755))
	require.NoError(t, os.MkdirAll(root+"/out", 0o755))
	require.NoError(t, os.WriteFile(root+"/out/f", nil, 0o600))
	require.NoError(t, os.WriteFile(root+"/top/d/f", nil, 0o600))
	require.NoError(t, os.WriteFile(root+"/top/d-f", nil, 0o600))
	require.NoError(t, os.Symlink("../out", root+"/top/link"))
	entries, err := h.Tree(t.Context(), "/top", safepath.MaxNames)
	require.NoError(t, err)
	require.Equal(t, map[string]safepath.FileKind{
		"d": safepath.Directory, "d/e": safepath.Directory, "d/f": safepath.Regular, "d-f": safepath.Regular, "link": safepath.Symlink,
	}, rels(entries))
	require.Equal(t, "d", entries[0].Rel, "in order of path")

	// A link to a directory is no directory.
	entries, err = h.Tree(t.Context(), "/top/link", safepath.MaxNames)
	require.NoError(t, err)
	require.Empty(t, entries)

	_, err = h.Tree(t.Context(), "/no", safepath.MaxNames)
	require.ErrorIs(t, err, os.ErrNotExist)

	// A plan includes its assumptions.
	v := h.Planning(t.Context())
	v.Overlay().Assume(nil, false, overlay.PathEffect{Path: "/top/d/f", Kind: safepath.Missing}, overlay.PathEffect{Path: "/top/new", Kind: safepath.Regular}, overlay.PathEffect{Path: "/no", Kind: safepath.Directory})
	entries, err = v.Tree(t.Context(), "/top", safepath.MaxNames)
	require.NoError(t, err)
	require.Equal(t, map[string]safepath.FileKind{
		"d": safepath.Directory, "d/e": safepath.Directory, "d-f": safepath.Regular, "link": safepath.Symlink, "new": safepath.Regular,
	}, rels(entries))
	entries, err = v.Tree(t.Context(), "/no", safepath.MaxNames)
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestSourceTree(t *testing.T) {
	h, _ := hosttest.New(t, nil)
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(dir+"/src/d", 0o755))
	require.NoError(t, os.WriteFile(dir+"/src/f", nil, 0o600))
	require.NoError(t, os.Symlink("src", dir+"/link"))
	for _, name := range []string{"/src", "/src/", "/link"} {
		entries, err := h.Sources().Tree(t.Context(), dir+name, safepath.MaxNames)
		require.NoError(t, err)
		require.Equal(t, map[string]safepath.FileKind{"d": safepath.Directory, "f": safepath.Regular}, rels(entries), name)
	}
	_, err := h.Sources().Tree(t.Context(), dir+"/src/f", safepath.MaxNames)
	require.EqualError(t, err, dir+"/src/f is not a directory")
}

// No file outside the directory is removed, whatever links are in it.
func TestRemoveBelow(t *testing.T) {
	h, root := hosttest.New(t, nil)
	require.NoError(t, os.MkdirAll(root+"/top/d", 0o755))
	require.NoError(t, os.MkdirAll(root+"/out", 0o755))
	require.NoError(t, os.WriteFile(root+"/out/f", nil, 0o600))
	require.NoError(t, os.WriteFile(root+"/top/d/f", nil, 0o600))
	require.NoError(t, os.Symlink("../out", root+"/top/link"))
	require.NoError(t, os.Symlink(root+"/out", root+"/top/abs"))
	for _, rel := range []string{"link/f", "abs/f", "../out/f", "/out/f", "d/../../out/f"} {
		require.Error(t, h.RemoveBelow("/top", rel), rel)
	}
	require.FileExists(t, root+"/out/f")
	require.Error(t, h.RemoveBelow("/top", "d"), "not empty")
	for _, rel := range []string{"link", "d/f", "d", "d", "not/there"} {
		require.NoError(t, h.RemoveBelow("/top", rel), rel)
	}
	require.NoError(t, h.RemoveBelow("/no", "f"))
	require.FileExists(t, root+"/out/f")
	require.NoDirExists(t, root+"/top/d")
}

func TestScratch(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	h, root := hosttest.New(t, nil)
	before := hosttest.Snapshot(t, root)
	err := h.WithScratch(func(s *host.Scratch) error {
		require.NoError(t, s.WriteFile("d/f", []byte("x")))
		require.NoError(t, s.MakeDirectory("e"))
		require.NoError(t, s.SetMode("d/f", 0o644))
		info, err := s.Info("d/f")
		require.NoError(t, err)
		require.Equal(t, uint32(0o644), info.Mode)
		info, err = s.Info("no")
		require.NoError(t, err)
		require.Equal(t, safepath.Missing, info.Kind)
		entries, err := s.Tree(".")
		require.NoError(t, err)
		require.Len(t, entries, 3)
		fi, err := os.Stat(s.Path("."))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o700), fi.Mode().Perm(), "nobody else can read it")
		sum, err := h.Sources().Sum(t.Context(), s.Path("d/f"))
		require.NoError(t, err)
		require.Equal(t, sha256sum.Bytes([]byte("x")), sum)
		return os.ErrInvalid
	})
	require.ErrorIs(t, err, os.ErrInvalid)
	require.Empty(t, hosttest.Snapshot(t, tmp))
	require.Equal(t, before, hosttest.Snapshot(t, root))
}
