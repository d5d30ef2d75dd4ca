package main

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/stdlib"
)

// TestShippedSpecs runs the specs of the modules that ship with ccm, as their
// authors would.
func TestShippedSpecs(t *testing.T) {
	isolate(t)
	out, stderr, status := ccm(t, nil, "test", "../../stdlib/spec")
	require.Zero(t, status, "%s%s", out, stderr)
	require.Contains(t, out, " 0 failures / 0 errors / 0 pending")
	require.NotContains(t, out, "0 successes")
}

// TestShippedTypesAreFound: each is a type of the registry as soon as somebody
// asks for it, and a module that is none is not.
func TestShippedTypesAreFound(t *testing.T) {
	reg, err := registry(&surroundings{})
	require.NoError(t, err)
	before := reg.TypeNames()
	require.NotContains(t, before, "line")
	require.NotNil(t, reg.Type("line"))
	require.Nil(t, reg.Type("lines"))
	require.Nil(t, reg.Type("nope"))
	require.Nil(t, reg.Type("../std/line"))
	addShipped(reg)
	for _, f := range []string{"user", "git", "apt_repo"} {
		require.Contains(t, reg.TypeNames(), f)
	}
	files, err := fs.Glob(stdlib.Library, "std/*.lua")
	require.NoError(t, err)
	for _, f := range files {
		text, err := fs.ReadFile(stdlib.Library, f)
		require.NoError(t, err)
		name := strings.TrimSuffix(strings.TrimPrefix(f, "std/"), ".lua")
		require.Equal(t, strings.Contains(string(text), "\nreturn ccm.type {"), reg.Type(name) != nil, name)
	}
}
