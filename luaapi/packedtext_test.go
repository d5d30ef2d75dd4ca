package luaapi

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yuin/gopher-lua/parse"
)

// checkPacked compares a packed text and its tree with the original text and its tree.
func checkPacked(t *testing.T, text string) {
	want, wantErr := parse.Parse(strings.NewReader(withoutShebang(text)), "x")
	if m := misread(withoutShebang(text)); wantErr == nil && m != nil {
		want, wantErr = nil, m
	}
	for _, c := range []struct {
		*packedText
		value func(string) string
	}{{pack(text, 0), func(value string) string { return value }}, {packWritten(text, 0), unescape}} {
		require.Equal(t, text, c.text())
		got, err := c.parse("x")
		require.Equal(t, wantErr, err, "%q", text)
		c.fill(got, c.value)
		require.Equal(t, want, got, "%q", text)
	}
}

// packedTexts are texts whose strings are taken out, and some that only look like it.
var packedTexts = []string{
	`a = "one\n\ttwo\\" b = 'it\'s "\\\\"' -- "no\n"`,
	`a = "\"\"" .. '\n' f"\n" f'\t' --[[ "\n" ]] return [["\n"]]`,
	`a = "no \65 \' \z \a"`, "a = \"no\\\nline\"", "a = \"no\ttab\\n\"", "a = \"no\r\\n\"",
	`a = "open\n`, `a = "open\"`, `a = "open\nx`, `a = "open\\`, `a = '\n"`, `"`, `a = "\n" b = `,
	"a = \"\x01esc 0\" b = \"\\n\"", "#!/usr/bin/ccm \"\\n\"\na = \"\\n\"",
}

func TestPacked(t *testing.T) {
	for _, text := range append(corpus(t), packedTexts...) {
		checkPacked(t, text)
	}
	p := pack(packedTexts[0], 0)
	require.Equal(t, []string{"one\n\ttwo\\", `it's "\\"`}, p.values)
	require.Equal(t, "a = \"\x01esc 0\" b = '\x01esc 1' -- \"no\\n\"", p.packed)
}

func FuzzPacked(f *testing.F) {
	for _, text := range append(corpus(f), packedTexts...) {
		f.Add(text)
	}
	f.Fuzz(checkPacked)
}
