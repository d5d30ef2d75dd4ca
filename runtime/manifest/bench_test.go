package manifest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkLoad loads manifests of 1,000 files, without expressions, with one in
// each, and with 1 KiB of text in each.
func BenchmarkLoad(b *testing.B) {
	for _, tt := range []struct{ name, content string }{{"plain", "x"}, {"expressions", "${ Data.text } %d"}, {"long", strings.Repeat("0123456789abcdef", 64)}} {
		var text strings.Builder
		text.WriteString("data: {text: x}\nccm:\n  resources:\n    - file:\n")
		for i := range 1000 {
			content := tt.content
			if strings.Contains(content, "%") {
				content = fmt.Sprintf(content, i)
			}
			fmt.Fprintf(&text, "        - /tmp/files/file-%d:\n            ensure: present\n            owner: root\n            group: root\n            mode: \"0644\"\n            content: %q\n", i, content)
		}
		b.Run(tt.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w := newWorld(b, nil)
				w.Loader.Light = true
				_, err := w.Load(b.Context(), w.units.Root("m.yaml", "/site"), text.String())
				require.NoError(b, err)
			}
		})
	}
}
