package graph

import (
	"encoding/xml"
	"fmt"
	"hash/crc32"
	"math"
	"strings"
)

// style follows the colours of the reader's system. The variables are those of the drawing
// alone, so that it can stand within a page.
const style = `<style>
.graph{--g-bg:#fff;--g-text:#1b2430;--g-line:#8a95a3;--g-fill:97%;--g-edge:58%;background:var(--g-bg);font:12px ui-monospace,"Liberation Mono","DejaVu Sans Mono",monospace}
@media(prefers-color-scheme:dark){.graph{--g-bg:#191f27;--g-text:#e4e9f0;--g-line:#768393;--g-fill:17%;--g-edge:45%}}
@media print{.graph{--g-bg:#fff;--g-text:#1b2430;--g-line:#8a95a3;--g-fill:97%;--g-edge:58%}}
.graph rect{fill:hsl(var(--h) 45% var(--g-fill));stroke:hsl(var(--h) 40% var(--g-edge))}.graph text{fill:var(--g-text)}.graph .type{opacity:.65}
.graph path{fill:none;stroke:var(--g-line);stroke-width:1.1}.graph .refresh{stroke-dasharray:5 3}
.graph .failed rect{stroke:#c5302a;stroke-width:2.5}.graph .changed rect,.graph .pending rect{stroke-width:2.5}.graph .skipped rect{stroke-dasharray:3 3}.graph .skipped text{opacity:.6}.graph .unknown rect{stroke-dasharray:8 3}
.graph .dot{fill:hsl(var(--h) 55% 50%)}.graph marker path{fill:var(--g-line);stroke:none}.graph a:focus-visible rect{stroke-width:3.5}
</style>`

const tip = `<defs><marker id="tip" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0,.8 L8,4 L0,7.2z"/></marker></defs>`

// SVG returns the drawing as an element of SVG 1.1, which needs nothing else. A solid line is
// order, a dashed one a refresh.
func (d *Drawing) SVG() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" class="graph" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" role="img" aria-label="what comes before what">`, d.Width, d.Height, d.Width, d.Height)
	b.WriteString("\n" + style + tip + "\n")
	for _, l := range d.Lines {
		drawLine(&b, l)
	}
	for _, box := range d.Boxes {
		d.drawBox(&b, box)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func drawLine(b *strings.Builder, l Line) {
	class := ""
	if l.Refresh {
		class = ` class="refresh"`
	}
	fmt.Fprintf(b, `<path%s d="M%.0f,%.0f`, class, l.Points[0].X, l.Points[0].Y)
	for i, q := range l.Points[1:] {
		p := l.Points[i]
		if math.Abs(q.Y-p.Y) < .5 {
			fmt.Fprintf(b, "H%.0f", q.X)
			continue
		}
		middle := (p.X + q.X) / 2
		fmt.Fprintf(b, "C%.0f,%.0f %.0f,%.0f %.0f,%.0f", middle, p.Y, middle, q.Y, q.X, q.Y)
	}
	b.WriteString("\" marker-end=\"url(#tip)\"/>\n")
}

// mostTitles is how many members of a stack its tooltip names.
const mostTitles = 50

func (d *Drawing) drawBox(b *strings.Builder, box Box) {
	first := d.Nodes[box.Members[0]]
	var titles []string
	for i, m := range box.Members {
		if i == mostTitles {
			titles = append(titles, fmt.Sprintf("and %d more", len(box.Members)-i))
			break
		}
		titles = append(titles, d.Nodes[m].String())
	}
	open, end := "", "</g>\n"
	if first.Link != "" {
		open, end = fmt.Sprintf(`<a href="%s"%s>`, escape(first.Link), d.stackLinks(box)), "</a></g>\n"
	}
	fmt.Fprintf(b, `<g class="%s" style="--h:%d">%s<title>%s</title>`, escape(first.Class), Hue(first.Type), open, escape(strings.Join(titles, "\n")))
	if len(box.Members) > 1 {
		fmt.Fprintf(b, `<rect x="%.0f" y="%.0f" width="%.0f" height="%.0f" rx="6"/>`, box.X+4, box.Y-4, box.W-1, box.H)
	}
	fmt.Fprintf(b, `<rect x="%.0f" y="%.0f" width="%.0f" height="%.0f" rx="6"/><circle class="dot" cx="%.0f" cy="%.0f" r="4"/><text x="%.0f" y="%.0f"><tspan class="type">%s</tspan> %s</text>`,
		box.X, box.Y, box.W, box.H, box.X+11, box.Y+box.H/2, box.X+21, box.Y+box.H/2+4, escape(box.Type), escape(box.Label))
	b.WriteString(end)
}

// stackLinks returns an attribute with where the members of a stack lead to, for a script.
func (d *Drawing) stackLinks(box Box) string {
	if len(box.Members) == 1 {
		return ""
	}
	links := make([]string, len(box.Members))
	for i, m := range box.Members {
		links[i] = d.Nodes[m].Link
	}
	return ` data-members="` + escape(strings.Join(links, " ")) + `"`
}

// Hue returns the colour of a type, in degrees of hsl(). It follows from the name alone, so that
// a type has the same colour everywhere.
func Hue(typ string) int { return int(crc32.ChecksumIEEE([]byte(typ)) % 360) }

// escape returns text for XML and HTML. What XML cannot hold becomes U+FFFD.
func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}
