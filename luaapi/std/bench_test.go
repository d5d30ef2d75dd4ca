package std_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/resource"
)

// The cost of the library for a run without it is the difference between the two benchmarks.
func BenchmarkNew(b *testing.B) {
	reg, err := resource.NewRegistry()
	require.NoError(b, err)
	l := newLab(b)
	for name, extend := range map[string]func(*luaapi.Interp){"without": nil, "with": l.Extend} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				luaapi.New(luaapi.Options{Registry: reg, Builder: new(catalog.Builder), Extend: extend}).Close()
			}
		})
	}
}

func BenchmarkCalls(b *testing.B) {
	l := newLab(b)
	for name, script := range map[string]string{
		"str.split":   `for i = 1, 10000 do str.split("a,b,c", ",") end`,
		"tbl.map":     `local t = tbl.range(1, 10000) tbl.map(t, function(n) return n end)`,
		"json.decode": `local t = {} for i = 1, 10000 do t[i] = '"' .. i .. '"' end json.decode("[" .. table.concat(t, ",") .. "]")`,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, err := l.run(b, script)
				require.NoError(b, err)
			}
		})
	}
}
