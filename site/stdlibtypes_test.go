package site

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/stdlib"
)

// TestShippedTypesAreFound: each type of the library is in the registry on first use, and other modules are not.
func TestShippedTypesAreFound(t *testing.T) {
	reg, err := NewRegistry(new(TemplateEnv))
	require.NoError(t, err)
	before := reg.TypeNames()
	require.NotContains(t, before, "line")
	require.NotNil(t, reg.Type("line"))
	require.Nil(t, reg.Type("lines"))
	require.Nil(t, reg.Type("nope"))
	require.Nil(t, reg.Type("../std/line"))
	AddShipped(reg)
	for _, f := range []string{"user", "git", "apt_repo"} {
		require.Contains(t, reg.TypeNames(), f)
	}
	files, err := fs.Glob(stdlib.Library, "std/*.lua")
	require.NoError(t, err)
	for _, f := range files {
		text, err := fs.ReadFile(stdlib.Library, f)
		require.NoError(t, err)
		name := strings.TrimSuffix(strings.TrimPrefix(f, "std/"), ".lua")
		require.Equal(t, strings.Contains(string(text), "\nreturn ccm.type"), reg.Type(name) != nil, name)
	}
}
