package report

import (
	"encoding/xml"
	"errors"
	"io"
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

// The drawing is well-formed, shows every resource and arrow, and no box covers
// another.
func TestSVG(t *testing.T) {
	c := drawing()
	c.Resources[3].ID.Name = "/" + strings.Repeat("long", 50)
	text := SVG(c)
	require.Equal(t, text, SVG(c))
	texts, paths := 0, 0
	dec := xml.NewDecoder(strings.NewReader(text))
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if start, ok := tok.(xml.StartElement); ok {
			switch start.Name.Local {
			case "text":
				texts++
			case "path":
				paths++
			}
		}
	}
	require.Equal(t, 4, texts)
	require.Equal(t, 2+1, paths, "arrows, and the tip")
	require.Contains(t, text, "stroke-dasharray")
	require.NotContains(t, text, strings.Repeat("long", 50)+"</text>")

	boxes, width, height := layout(c)
	require.Greater(t, boxes[2].x, boxes[0].x+boxes[0].width)
	for i, a := range boxes {
		require.LessOrEqual(t, a.x+a.width, width)
		require.LessOrEqual(t, a.y+boxHeight, height)
		for _, b := range boxes[i+1:] {
			apart := a.x+a.width <= b.x || b.x+b.width <= a.x || a.y+boxHeight <= b.y || b.y+boxHeight <= a.y
			require.True(t, apart)
		}
	}
	require.Contains(t, SVG(&catalog.Catalog{}), "<svg ")
}
