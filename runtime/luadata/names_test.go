package luadata_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/luadata"
)

func TestIsName(t *testing.T) {
	for _, s := range []string{"a", "_", "A1_", "endpoint"} {
		require.True(t, luadata.IsName(s), s)
	}
	for _, s := range []string{"", "1a", "a-b", "a.b", "é", "end", "goto", "true"} {
		require.False(t, luadata.IsName(s), s)
	}
}
