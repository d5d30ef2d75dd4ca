package host_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/safepath"
)

func TestPlansReadWhatAFileWillHold(t *testing.T) {
	h, root := hosttest.New(t, nil)
	require.NoError(t, os.WriteFile(filepath.Join(root, "a"), []byte("is"), 0o644))
	v := h.Planning(t.Context())
	read := func() string {
		text, err := v.ReadUpTo("/a", 100)
		if err != nil {
			return err.Error()
		}
		return string(text)
	}
	require.Equal(t, "is", read())
	v.Overlay().Assume(nil, false, overlay.PathEffect{Path: "/a", Kind: safepath.Regular, Kept: true})
	require.Equal(t, "is", read())
	v.Overlay().Assume(nil, false, overlay.PathEffect{Path: "/a", Kind: safepath.Regular, Content: new("will be")})
	require.Equal(t, "will be", read())
	v.Overlay().Assume(nil, false, overlay.PathEffect{Path: "/a", Kind: safepath.Regular, Kept: true})
	require.Equal(t, "will be", read())
	v.Overlay().Assume(nil, false, overlay.PathEffect{Path: "/a", Kind: safepath.Regular})
	require.Equal(t, "/a: "+overlay.ErrNotKnown.Error(), read())
	text, err := h.ReadUpTo("/a", 100)
	require.NoError(t, err)
	require.Equal(t, "is", string(text))
}

func TestEditIsOneWrite(t *testing.T) {
	root := t.TempDir()
	var renames []string
	h := host.New(host.Options{Root: root, Effect: func(op, path string) error {
		if op == "rename" {
			renames = append(renames, path)
		}
		return nil
	}})
	file := filepath.Join(root, "a")
	require.NoError(t, os.WriteFile(file, []byte("0"), 0o600))
	attr := safepath.Attr{UID: uint32(os.Geteuid()), GID: uint32(os.Getegid()), Mode: 0o640}

	e := h.NewEdit(t.Context(), "/a")
	for _, next := range []string{"1", "2", "3"} {
		text, err := e.Host().ReadUpTo("/a", 100)
		require.NoError(t, err)
		require.NoError(t, e.Host().WithLog(h.Log()).WriteFile("/a", strings.NewReader(string(text)+next), attr))
	}
	require.NoError(t, e.Host().WriteFile("/b", strings.NewReader("at once"), attr))
	require.Equal(t, []string{"/b"}, renames)
	before, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "0", string(before))

	require.NoError(t, e.Commit())
	require.Equal(t, []string{"/b", "/a"}, renames)
	after, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "0123", string(after))
	fi, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), fi.Mode())

	require.NoError(t, h.NewEdit(t.Context(), "/a").Commit())
	require.Len(t, renames, 2)
}
