package host_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// The names that one call reads have a limit, on the machine and in a plan, and the call ends
// with its context. A pattern that matches nothing reads names, too.
func TestNameLimit(t *testing.T) {
	h, root := hosttest.New(t, nil)
	for _, name := range []string{"a/1", "a/2", "b/1", "b/2", "b/3"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, name), 0o755))
	}
	ended, end := context.WithCancel(t.Context())
	end()
	planned := h.Planning(t.Context())
	planned.Assume(host.Planned{Path: "/b/3/new", Kind: host.Directory}) // else a plan looks at the machine
	for what, v := range map[string]*host.View{"machine": &h.View, "plan": planned} {
		names, err := v.Names(t.Context(), "/b", 3)
		require.NoError(t, err, what)
		require.Equal(t, []string{"1", "2", "3"}, names, what)
		found, err := v.Glob(t.Context(), "/*/2", 7)
		require.NoError(t, err, what)
		require.Equal(t, []string{"/a/2", "/b/2"}, found, what)

		tooMany := &host.TooManyNamesError{Limit: 2}
		_, err = v.Names(t.Context(), "/b", 2)
		require.Equal(t, tooMany, err, what)
		_, err = v.Glob(t.Context(), "/b/x*", 2)
		require.Equal(t, tooMany, err, what)
		_, err = v.Glob(t.Context(), "/*/[12]", 6)
		require.Equal(t, &host.TooManyNamesError{Limit: 6}, err, what)

		_, err = v.Names(ended, "/b", 3)
		require.ErrorIs(t, err, context.Canceled, what)
		_, err = v.Glob(ended, "/*/2", 7)
		require.ErrorIs(t, err, context.Canceled, what)
	}
}
