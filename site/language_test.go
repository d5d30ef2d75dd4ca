package site_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/site"
)

// TestModuleType: only a module of the library has a type, and only that of its name.
func TestModuleType(t *testing.T) {
	reg, err := site.NewRegistry(new(site.TemplateEnv))
	require.NoError(t, err)
	lang, err := site.LanguageOf(reg)
	require.NoError(t, err)
	require.Equal(t, lang.Globals, site.Globals(reg))
	for _, m := range lang.Modules {
		found := site.ModuleType(reg, m.Name)
		require.NotNil(t, found, m.Name)
		require.Equal(t, m.Type.Name, found.Name)
	}
	for _, name := range []string{"std.settings", "line", "std.file", "std.nothing", "std.", "std.../std/line", "std.line\"] error(\"x"} {
		require.Nil(t, site.ModuleType(reg, name), name)
	}
}
