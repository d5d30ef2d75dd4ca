package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/resource"
)

// drawing is a small catalog: /b comes after /a, which refreshes it, and after
// the name that every language has to quote; /c is skipped.
func drawing() *catalog.Catalog {
	odd := "/it's \"so\" <&>\n\\ #1"
	return &catalog.Catalog{
		Resources: []*resource.Resource{{ID: id("/a")}, {ID: id(odd)}, {ID: id("/b")}, {ID: id("/c"), Skip: "control"}},
		Deps:      [][]catalog.Dep{nil, nil, {{Index: 0, Refresh: true}, {Index: 1}}, nil},
	}
}

func TestDot(t *testing.T) {
	require.Equal(t, `digraph ccm {
  rankdir = LR;
  node [shape = box, style = rounded, fontname = "sans-serif"];
  edge [fontname = "sans-serif", fontsize = 10];
  "file#/a";
  "file#/it's \"so\" <&>\n\\ #1";
  "file#/b";
  "file#/c" [color = gray, fontcolor = gray];
  "file#/a" -> "file#/b" [style = dashed, label = "refresh"];
  "file#/it's \"so\" <&>\n\\ #1" -> "file#/b";
}
`, Dot(drawing()))
}

func TestMermaid(t *testing.T) {
	require.Equal(t, `flowchart LR
  r0["file#35;/a"]
  r1["file#35;/it's #quot;so#quot; #lt;&#gt; \ #35;1"]
  r2["file#35;/b"]
  r3["file#35;/c"]:::skipped
  r0 -. refresh .-> r2
  r1 --> r2
  classDef skipped stroke:#aaa,color:#aaa
`, Mermaid(drawing()))
}

// Skipped resources are marked, and a change that refreshes is a dashed line.
func TestSVG(t *testing.T) {
	text := SVG(drawing(), 0)
	require.Contains(t, text, `<g class="skipped"`)
	require.Contains(t, text, `<path class="refresh"`)
	require.Contains(t, text, "<title>file#/it&#39;s &#34;so&#34; &lt;&amp;&gt;\n\\ #1</title>")
	require.Equal(t, 2, strings.Count(text, "<path")-1, "arrows, besides the tip")
}
