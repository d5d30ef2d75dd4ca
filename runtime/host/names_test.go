package host_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/safepath"
)

// A listing of endlessly nested directories ends at the limit of a path's length, on the machine and in a plan.
func TestTreeDepth(t *testing.T) {
	h, root := hosttest.New(t, nil)
	dir, err := os.OpenRoot(root)
	require.NoError(t, err)
	deep := strings.Repeat("a", 200)
	for range 40 {
		require.NoError(t, dir.Mkdir(deep, 0o755))
		below, err := dir.OpenRoot(deep)
		require.NoError(t, err)
		require.NoError(t, dir.Close())
		dir = below
	}
	require.NoError(t, dir.Close())
	planned := h.Planning(t.Context())
	planned.Overlay().Assume(nil, false, overlay.PathEffect{Path: "/new", Kind: safepath.Directory})
	for what, v := range map[string]*host.View{"machine": &h.View, "plan": planned} {
		entries, err := v.Tree(t.Context(), "/", safepath.MaxNames)
		require.ErrorIs(t, err, syscall.ENAMETOOLONG, what)
		require.InDelta(t, 20, len(entries), 2, what)
	}
	require.NoError(t, h.RemoveTree("/"+deep))
}

// A call reads a limited number of names, on the machine and in a plan, and ends with its context. A pattern without
// matches counts names too.
func TestNameLimit(t *testing.T) {
	h, root := hosttest.New(t, nil)
	for _, name := range []string{"a/1", "a/2", "b/1", "b/2", "b/3"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, name), 0o755))
	}
	ended, end := context.WithCancel(t.Context())
	end()
	planned := h.Planning(t.Context())
	planned.Overlay().Assume(nil, false, overlay.PathEffect{Path: "/b/3/new", Kind: safepath.Directory}) // otherwise the plan would read the machine
	for what, v := range map[string]*host.View{"machine": &h.View, "plan": planned} {
		below := 7
		if v == planned {
			below++
		}
		names, err := v.Names(t.Context(), "/b", 3)
		require.NoError(t, err, what)
		require.Equal(t, []string{"1", "2", "3"}, names, what)
		found, err := v.Glob(t.Context(), "/*/2", 7)
		require.NoError(t, err, what)
		require.Equal(t, []string{"/a/2", "/b/2"}, found, what)
		entries, err := v.Tree(t.Context(), "/", 8)
		require.NoError(t, err, what)
		require.Len(t, entries, below, what)
		entries, err = v.Sources().Tree(t.Context(), root+"/b", 4)
		require.NoError(t, err, what)
		require.Len(t, entries, below-4, what)

		tooMany := &safepath.TooManyNamesError{Limit: 2}
		_, err = v.Names(t.Context(), "/b", 2)
		require.Equal(t, tooMany, err, what)
		_, err = v.Glob(t.Context(), "/b/x*", 2)
		require.Equal(t, tooMany, err, what)
		_, err = v.Glob(t.Context(), "/*/[12]", 6)
		require.Equal(t, &safepath.TooManyNamesError{Limit: 6}, err, what)
		_, err = v.Tree(t.Context(), "/", 6)
		require.Equal(t, &safepath.TooManyNamesError{Limit: 6}, err, what)
		_, err = v.Sources().Tree(t.Context(), root+"/b", 2)
		require.Equal(t, tooMany, err, what)

		_, err = v.Names(ended, "/b", 3)
		require.ErrorIs(t, err, context.Canceled, what)
		_, err = v.Names(ended, "/none", 3)
		require.ErrorIs(t, err, context.Canceled, "%s: nothing is opened any more", what)
		_, err = v.Glob(ended, "/*/2", 7)
		require.ErrorIs(t, err, context.Canceled, what)
		_, err = v.Tree(ended, "/", 8)
		require.ErrorIs(t, err, context.Canceled, what)
		_, err = v.Sources().Tree(ended, root+"/b", 4)
		require.ErrorIs(t, err, context.Canceled, what)
		err = v.Sources().CompareTree(ended, root+"/b", "/b", func(safepath.TreeEntry) (bool, error) { return true, nil }, func(host.TreePair) error { return nil })
		require.ErrorIs(t, err, context.Canceled, what)
	}
}
