package std_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// tables are 25,000 objects with four values each, in JSON and in YAML.
func tables() (inJSON, inYAML string) {
	var j, y strings.Builder
	for i := range 25_000 {
		address := fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255)
		fmt.Fprintf(&j, ",\n"+`  {"name": "host-%06d", "address": "%s", "port": %d, "enabled": %v}`, i, address, 1024+i%60000, i%3 > 0)
		fmt.Fprintf(&y, "- name: host-%06d\n  address: %s\n  port: %d\n  enabled: %v\n", i, address, 1024+i%60000, i%3 > 0)
	}
	return "[" + j.String()[1:] + "\n]\n", y.String()
}

// BenchmarkTable reads a large table into Lua: compare json with decoder, and
// yaml with yaml-decoder. Wanted is at most twice the time of the decoder.
func BenchmarkTable(b *testing.B) {
	l := newLab(b)
	inJSON, inYAML := tables()
	for _, f := range []struct{ name, text string }{{"json", inJSON}, {"yaml", inYAML}} {
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
	for name, decode := range map[string]func(v any) error{
		"decoder":      func(v any) error { return json.Unmarshal([]byte(inJSON), v) },
		"yaml-decoder": func(v any) error { return yaml.Unmarshal([]byte(inYAML), v) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var v []any
				require.NoError(b, decode(&v))
				require.Len(b, v, 25_000)
			}
		})
	}
}
