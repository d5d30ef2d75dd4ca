package data

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/luaccm/ccm/test/bench/table"
)

// BenchmarkDecoder is what the YAML library itself takes for a large table.
func BenchmarkDecoder(b *testing.B) {
	text := []byte(table.YAML(table.Values))
	b.ReportAllocs()
	for b.Loop() {
		var v []any
		require.NoError(b, yaml.Unmarshal(text, &v))
		require.Len(b, v, table.Values/4)
	}
}
