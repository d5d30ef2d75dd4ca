package std_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/luaapi/std"
)

//go:generate env UPDATE=1 go test -count=1 -run ^TestReference .

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.WriteFile(file, got, 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "run go generate ./luaapi/std")
}

// docs/stdlib.md matches the declarations.
func TestReference(t *testing.T) {
	var b bytes.Buffer
	std.WriteReference(&b)
	golden(t, "../../docs/stdlib.md", b.Bytes())
}

func TestText(t *testing.T) {
	for _, lib := range std.Libraries() {
		for _, e := range lib.Entries() {
			if e.Name != "str.cut" {
				continue
			}
			var b bytes.Buffer
			e.WriteText(&b)
			require.Equal(t, `str.cut(text: string, separator: string): (before: string, after: string|nil)

  Returns the text before and after the first separator, or text and nil
  without a separator.

    str.cut("key=a=b", "=") --> "key", "a=b"
`, b.String())
		}
	}
}
