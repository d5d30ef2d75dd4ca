package graph

import (
	_ "embed"
	"fmt"
	"hash/crc32"
	"math"
	"strings"

	"github.com/luaccm/ccm/runtime/markup"
)

// Style is the style sheet of drawings, for a page that contains some. The page sets the variables of
// CSS in it; those of outcomes are optional.
//
//go:embed graph.css
var Style string

// variables are the variables of Style for a drawing that is a file of its own, light or dark as the
// reader's system is.
const variables = `.graph{--g-bg:#fff;--g-text:#1b2430;--g-line:#8a95a3;--g-fill:97%;--g-edge:58%}
@media(prefers-color-scheme:dark){.graph{--g-bg:#191f27;--g-text:#e4e9f0;--g-line:#768393;--g-fill:17%;--g-edge:45%}}
@media print{.graph{--g-bg:#fff;--g-text:#1b2430;--g-line:#8a95a3;--g-fill:97%;--g-edge:58%}}
`

// SVG returns the drawing as an element of SVG 1.1 that can be a file of its own. A solid line is
// order, a dashed one a refresh.
func (d *Drawing) SVG() string {
	return d.element(markup.Text("\n"), markup.StyleSheet("\n"+variables+Style)).HTML() + "\n"
}

// Element returns the drawing for a page that has Style. The lines and then the boxes are its
// last children, in the order of the drawing.
func (d *Drawing) Element() *markup.Element { return d.element() }

func (d *Drawing) element(style ...markup.Node) *markup.Element {
	svg := markup.New("svg", "xmlns", "http://www.w3.org/2000/svg", "class", "graph", "width", px(d.Width), "height", px(d.Height),
		"viewBox", "0 0 "+px(d.Width)+" "+px(d.Height), "role", "img", "aria-label", "order of the resources").Add(style...)
	svg.Add(markup.New("defs").Add(markup.New("marker", "id", "tip", "viewBox", "0 0 8 8", "refX", "7.5", "refY", "4", "markerWidth", "7", "markerHeight", "7", "orient", "auto").Add(
		markup.New("path", "d", "M0,.8 L8,4 L0,7.2z"))))
	for _, l := range d.Lines {
		svg.Add(markup.Text("\n"), lineElement(l))
	}
	for _, box := range d.Boxes {
		svg.Add(markup.Text("\n"), d.boxElement(box))
	}
	svg.Add(markup.Text("\n"))
	return svg
}

// px formats a length.
func px(f float64) string { return fmt.Sprintf("%.0f", f) }

func lineElement(l Line) *markup.Element {
	var b strings.Builder
	fmt.Fprintf(&b, "M%.0f,%.0f", l.Points[0].X, l.Points[0].Y)
	for i, q := range l.Points[1:] {
		p := l.Points[i]
		if math.Abs(q.Y-p.Y) < .5 {
			fmt.Fprintf(&b, "H%.0f", q.X)
			continue
		}
		middle := (p.X + q.X) / 2
		fmt.Fprintf(&b, "C%.0f,%.0f %.0f,%.0f %.0f,%.0f", middle, p.Y, middle, q.Y, q.X, q.Y)
	}
	attrs := []string{"d", b.String(), "marker-end", "url(#tip)"}
	if l.Refresh {
		attrs = append([]string{"class", "refresh"}, attrs...)
	}
	return markup.New("path", attrs...)
}

// mostTitles is how many members of a stack its tooltip names.
const mostTitles = 50

func (d *Drawing) boxElement(box Box) *markup.Element {
	first := d.Nodes[box.Members[0]]
	var titles []string
	for i, m := range box.Members {
		if i == mostTitles {
			titles = append(titles, fmt.Sprintf("and %d more", len(box.Members)-i))
			break
		}
		titles = append(titles, d.Nodes[m].String())
	}
	g := markup.New("g", "class", first.Class, "style", fmt.Sprintf("--h:%d", Hue(first.Type)))
	in := g
	if first.Link != "" {
		attrs := []string{"href", first.Link}
		if len(box.Members) > 1 { // for a script: where the members lead to
			links := make([]string, len(box.Members))
			for i, m := range box.Members {
				links[i] = d.Nodes[m].Link
			}
			attrs = append(attrs, "data-members", strings.Join(links, " "))
		}
		in = markup.New("a", attrs...)
		g.Add(in)
	}
	in.Add(markup.New("title").Say(strings.Join(titles, "\n")))
	if len(box.Members) > 1 {
		in.Add(rect(box.X+4, box.Y-4, box.W-1, box.H))
	}
	in.Add(rect(box.X, box.Y, box.W, box.H), markup.New("circle", "class", "dot", "cx", px(box.X+11), "cy", px(box.Y+box.H/2), "r", "4"),
		markup.New("text", "x", px(box.X+21), "y", px(box.Y+box.H/2+4)).Add(markup.New("tspan", "class", "type").Say(box.Type), markup.Text(" "+box.Label)))
	return g
}

func rect(x, y, w, h float64) *markup.Element {
	return markup.New("rect", "x", px(x), "y", px(y), "width", px(w), "height", px(h), "rx", "6")
}

// Hue returns the color of a type, in degrees of hsl(). It follows from the name alone, so that
// a type has the same color everywhere.
func Hue(typ string) int { return int(crc32.ChecksumIEEE([]byte(typ)) % 360) }
