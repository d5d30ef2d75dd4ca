package overlay_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/safepath"
)

// TestPlanning: a plan sees the machine as if pending changes were done.
func TestPlanning(t *testing.T) {
	h, root := hosttest.New(t, nil)
	require.NoError(t, os.WriteFile(filepath.Join(root, "old"), []byte("x"), 0o640))
	v := h.Planning(t.Context())
	v.Overlay().Assume(nil, false, overlay.PathEffect{Path: "/new", Kind: safepath.Directory}, overlay.PathEffect{Path: "/old", Kind: safepath.Missing})
	dir, err := v.IsDirectory("/new")
	require.NoError(t, err)
	require.True(t, dir)
	there, err := v.Exists("/old")
	require.NoError(t, err)
	require.False(t, there)
	v.Overlay().Assume(nil, false, overlay.PathEffect{Path: root + "/made", OfSystem: true, Kind: safepath.Directory}, overlay.PathEffect{Path: "/made", OfSystem: true, Kind: safepath.Missing})
	dir, err = v.IsDirectory("/made")
	require.NoError(t, err)
	require.True(t, dir, "a path of the operating system is that of the machine below its root, and no other")
	there, err = h.Exists("/old")
	require.NoError(t, err)
	require.True(t, there)
}

// TestProgramThatGoes: in a plan, a program that will be removed is missing like any other, and the error names only
// some directories of a long PATH.
func TestProgramThatGoes(t *testing.T) {
	h, root := hosttest.New(t, nil)
	require.NoError(t, os.WriteFile(filepath.Join(root, "tool"), []byte("#!/bin/sh\n"), 0o755))
	list := root + ":/a:/b:/c:/d"
	v := h.Planning(t.Context())
	found, err := v.Overlay().Recording(new(overlay.Looks)).Commands().LookPath("tool", list, "/")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(root, "tool"), found)
	v.Overlay().Assume(nil, false, overlay.PathEffect{Path: "/tool", Kind: safepath.Missing})
	_, err = v.Overlay().Recording(new(overlay.Looks)).Commands().LookPath("tool", list, "/")
	require.EqualError(t, err, `command "tool" not found in `+root+`, /a, /b and 2 more directories`)
}
