package author

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yuin/gopher-lua/parse"

	"github.com/luaccm/ccm/luaapi/stubs"
)

// Generated files in the repository are up to date.
func TestGeneratedDefinitions(t *testing.T) {
	lang, err := language()
	require.NoError(t, err)
	var b bytes.Buffer
	lang.Definitions(&b)
	have, err := os.ReadFile("../../../stdlib/meta/ccm.lua")
	require.NoError(t, err)
	require.True(t, b.String() == string(have), "stdlib/meta/ccm.lua is not what go generate ./cmd/ccm writes")
}

// All definition files are valid Lua, including those of modules.
func TestDefinitionFilesAreLua(t *testing.T) {
	lang, err := language()
	require.NoError(t, err)
	require.NotEmpty(t, lang.Modules)
	count := 0
	for _, f := range editorFiles(lang) {
		if !strings.HasPrefix(f.name, stubs.TypesDir) {
			continue
		}
		count++
		_, err := parse.Parse(bytes.NewReader(f.text), f.name)
		require.NoError(t, err)
		require.True(t, bytes.HasPrefix(f.text, []byte("---@meta")), f.name)
	}
	require.Equal(t, 2+len(lang.Modules), count)
}
