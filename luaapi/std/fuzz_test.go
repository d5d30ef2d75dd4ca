package std_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzDecode: any text is a value or a mistake, and a decoded value is equal after encoding and decoding.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,2.5,"x",null,true]}`, "a: [1, {b: c}]\nd: |\n  x\n", "a = 1\n[b]\nc = [1, 2]\n", "- 1\n- &x {y: z}\n- *x\n", "[", "{", "\"\\ud800\"",
		"a: 1_000\nb: 0x1F\nc: 1e3\n", "d = 2026-01-02T03:04:05Z\n", "<<: {a: 1}\n", "? a\n: b\n", "!!binary aGk=", "a.b.c = 1", "1152921504606846976", "\xff",
	} {
		f.Add(seed)
	}
	l := newLab(f)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<10 {
			t.Skip()
		}
		for _, format := range []string{"json", "yaml", "toml"} {
			out, err := l.run(t, fmt.Sprintf(`local ok, v = pcall(%s.decode, %s)
if not ok then print(v) return end
local written, text = pcall(%[1]s.encode, v)
if not written then print(text) return end
local back = %[1]s.decode(text)
if not tbl.equal(v, back) then print("DIFFERS", text, inspect(v), inspect(back)) end`, format, luaText(text)))
			require.NoError(t, err, "%s %q", format, text)
			require.NotContains(t, out, "internal error", "%s %q", format, text)
			if !strings.Contains(strings.ToLower(text), "nan") { // NaN differs from itself
				require.NotContains(t, out, "DIFFERS", "%s %q", format, text)
			}
		}
	})
}

// luaText returns a string as a Lua literal.
func luaText(s string) string {
	var out strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&out, "\\%03d", s[i])
	}
	return `"` + out.String() + `"`
}
