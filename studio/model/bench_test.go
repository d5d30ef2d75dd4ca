package model_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/studio/model"
)

// many returns a file with n resources, in YAML and in Lua.
func many(n int) (yaml, lua string) {
	var y, l strings.Builder
	y.WriteString("ccm:\n  resources:\n    - file:\n")
	for i := range n {
		fmt.Fprintf(&y, "        - /etc/app/%03d.conf: # no %d\n            content: |\n              a = %d\n              b\n            owner: root\n            group: root\n            mode: \"0644\"\n", i, i, i)
		fmt.Fprintf(&l, "file { \"/etc/app/%03d.conf\", content = \"a = %d\\nb\\n\", owner = \"root\", group = \"root\", mode = \"0644\" }\n", i, i)
	}
	return y.String(), l.String()
}

func BenchmarkSetIn500(b *testing.B) {
	yaml, lua := many(500)
	for file, text := range map[string]string{"site.yaml": yaml, "site.lua": lua} {
		b.Run(file, func(b *testing.B) {
			m, err := model.Read(file, text, types)
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				_, _, err := m.Apply(model.Edit{Op: model.Set, Resource: "file#/etc/app/250.conf", Property: "owner", Value: "www"})
				require.NoError(b, err)
			}
		})
	}
}

// TestLongFiles: the time grows about as the number of resources, not as its square.
func TestLongFiles(t *testing.T) {
	edit := func(file, text string) time.Duration {
		best := time.Hour
		for range 3 {
			begin := time.Now()
			m, err := model.Read(file, text, types)
			require.NoError(t, err)
			_, _, err = m.Apply(model.Edit{Op: model.Set, Resource: "file#/etc/app/100.conf", Property: "owner", Value: "www"})
			require.NoError(t, err)
			best = min(best, time.Since(begin))
		}
		return best
	}
	smallYAML, smallLua := many(150)
	yaml, lua := many(1500)
	line := "ccm: {resources: [{file: [" + strings.Repeat("{/a: {owner: root}}, ", 150) + "{/etc/app/100.conf: {owner: x}}]}]}"
	longLine := "ccm: {resources: [{file: [" + strings.Repeat("{/a: {owner: root}}, ", 1500) + "{/etc/app/100.conf: {owner: x}}]}]}"
	for _, c := range []struct{ file, small, large string }{{"x.yaml", smallYAML, yaml}, {"x.lua", smallLua, lua}, {"x.yaml", line, longLine}} {
		small, large := edit(c.file, c.small), edit(c.file, c.large)
		t.Logf("%s: %s, %s", c.file, small, large)
		require.Less(t, large, 100*small+500*time.Millisecond)
	}
}
