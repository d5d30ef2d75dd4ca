package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// Generating changes nothing: what is derived from the declarations and kept in
// the repository is what would be written now.
func TestGeneratedDefinitions(t *testing.T) {
	lang, err := language()
	require.NoError(t, err)
	var b bytes.Buffer
	lang.Definitions(&b)
	have, err := os.ReadFile("../../stdlib/meta/ccm.lua")
	require.NoError(t, err)
	require.True(t, b.String() == string(have), "stdlib/meta/ccm.lua is not what go generate ./cmd/ccm writes")
}
