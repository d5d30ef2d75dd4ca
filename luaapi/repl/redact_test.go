package repl_test

import (
	"testing"

	"github.com/luaccm/ccm/luaapi/repl"
	"github.com/luaccm/ccm/luaapi/syntax"
)

// For any input the lexemes cover the text, and neither completion nor the removal of secrets fails.
func FuzzTokens(f *testing.F) {
	for _, seed := range []string{`file { "/x", mode = "`, "--[==[", "\"\\", "[=", "a.b:c{", ".show ", "?x", "x = '\n", "\xff[[", `f("a", {[`} {
		f.Add(seed)
	}
	reg := registry(f)
	f.Fuzz(func(t *testing.T, text string) {
		at := 0
		for _, tok := range syntax.Lexemes(text) {
			if tok.Start != at || tok.End <= at {
				t.Fatalf("%q: token %d-%d at %d", text, tok.Start, tok.End, at)
			}
			at = tok.End
		}
		if at != len(text) {
			t.Fatalf("%q: covered %d of %d", text, at, len(text))
		}
		repl.Redact(text, reg)
	})
}
