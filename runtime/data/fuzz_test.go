package data

import (
	"strings"
	"testing"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/schema"
)

// FuzzParse holds every place, of values and of mistakes, inside the text.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"a: 1\nb: [x, \"y\\n\"]\n", "a: |\n  x\n   y\n", "a: >-\n  x\n\n  y\n", "a: 'it''s'\n", "a: &x {b: *x}\n", "{\"a\": [1, 2]}", "a: \"x\\\n  y\"\n",
		"<<: {a: 1}\n", "- - a\n  - b\n", "? a\n: b\n", "é: ü # ö\n", "a:\n\tb", "a: !!str 5\n", "---\na\n---\nb\n", "a: *n\n", "\xff", "a: \"\\u00e9\"",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Split(text, "\n")
		inside := func(p diag.Pos) {
			if p.Line < 0 || p.Line > len(lines) || p.Col > 0 && p.Line > 0 && p.Col > len(lines[p.Line-1])+1 {
				t.Fatalf("%v is outside of %q", p, text)
			}
		}
		docs, err := ParseAll("x", text)
		var list diag.List
		list.Add(err)
		for _, e := range list {
			inside(e.Pos)
		}
		budget := 1000
		var walk func(n *Node)
		walk = func(n *Node) {
			if budget--; budget < 0 {
				return
			}
			inside(n.Pos())
			if n.Kind == schema.String {
				for i := range len(n.Text) {
					inside(n.At(i, 1))
				}
			}
			for _, item := range n.Items {
				walk(item)
			}
			for _, e := range n.Entries {
				walk(e.Key)
				walk(e.Val)
			}
		}
		for _, doc := range docs {
			walk(doc.Root)
		}
	})
}
