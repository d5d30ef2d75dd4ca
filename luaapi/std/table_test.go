package std_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/test/bench/table"
)

// BenchmarkTable reads a large table into Lua: compare json with decoder, and
// yaml with BenchmarkDecoder of runtime/data.
func BenchmarkTable(b *testing.B) {
	l := newLab(b)
	for _, f := range []struct{ name, text string }{{"json", table.JSON(table.Values)}, {"yaml", table.YAML(table.Values)}} {
		file := filepath.Join(l.root, "table."+f.name)
		require.NoError(b, os.WriteFile(file, []byte(f.text), 0o644))
		script := strings.ReplaceAll(`assert(FORM.decode(fs.read("/table.FORM"))[25000].name == "host-024999")`, "FORM", f.name)
		b.Run(f.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, err := l.run(b, script)
				require.NoError(b, err)
			}
		})
	}
	b.Run("decoder", func(b *testing.B) {
		text := []byte(table.JSON(table.Values))
		b.ReportAllocs()
		for b.Loop() {
			var v []any
			require.NoError(b, json.Unmarshal(text, &v))
			require.Len(b, v, table.Values/4)
		}
	})
}
