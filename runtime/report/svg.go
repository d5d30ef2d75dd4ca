package report

import (
	"fmt"
	"html"
	"strings"
	"unicode/utf8"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/resource"
)

// Measures of a drawing, in pixels.
const (
	margin        = 20
	boxHeight     = 28
	rowGap        = 12
	columnGap     = 70
	charWidth     = 8 // of 12 px monospaced type, amply
	padding       = 10
	maxNameLength = 60 // characters of a name that are shown
)

// A box is the position and width of a resource in a drawing.
type box struct{ x, y, width int }

// SVG draws a catalog. A resource stands to the right of all that it depends on.
func SVG(c *catalog.Catalog) string {
	boxes, width, height := layout(c)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="monospace" font-size="12">`+"\n", width, height, width, height)
	b.WriteString(`<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="#555"/></marker></defs>` + "\n")
	b.WriteString(`<rect width="100%" height="100%" fill="white"/>` + "\n")
	for i, deps := range c.Deps {
		for _, d := range deps {
			b.WriteString(arrow(boxes[d.Index], boxes[i], d.Refresh))
		}
	}
	for i, r := range c.Resources {
		b.WriteString(drawBox(r, boxes[i]))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// layout places every resource: its column is the length of the longest path of
// dependencies to it, its row the next free one there.
func layout(c *catalog.Catalog) (boxes []box, width, height int) {
	n := len(c.Resources)
	column := make([]int, n)
	var rows, widths []int // of each column
	boxes = make([]box, n)
	for i := range n {
		for _, d := range c.Deps[i] { // all of them stand before i
			column[i] = max(column[i], column[d.Index]+1)
		}
		k := column[i]
		if k == len(rows) {
			rows, widths = append(rows, 0), append(widths, 0)
		}
		w := charWidth*utf8.RuneCountInString(shorten(c.Resources[i].ID)) + 2*padding
		boxes[i] = box{y: margin + rows[k]*(boxHeight+rowGap), width: w}
		rows[k]++
		widths[k] = max(widths[k], w)
		height = max(height, boxes[i].y+boxHeight)
	}
	left := make([]int, len(widths)+1)
	left[0] = margin
	for k, w := range widths {
		left[k+1] = left[k] + w + columnGap
	}
	for i := range boxes {
		boxes[i].x = left[column[i]]
	}
	if len(widths) > 0 {
		width = left[len(widths)] - columnGap
	}
	return boxes, width + margin, height + margin
}

// shorten returns a name without the middle if it is too long.
func shorten(id resource.ID) string {
	r := []rune(strings.ReplaceAll(id.String(), "\n", " "))
	if len(r) <= maxNameLength {
		return string(r)
	}
	return string(r[:maxNameLength/2]) + "…" + string(r[len(r)-maxNameLength/2+1:])
}

func arrow(from, to box, refresh bool) string {
	style := ""
	if refresh {
		style = ` stroke-dasharray="5,4"`
	}
	x1, y1, x2, y2 := from.x+from.width, from.y+boxHeight/2, to.x, to.y+boxHeight/2
	return fmt.Sprintf(`<path d="M%d,%d C%d,%d %d,%d %d,%d" fill="none" stroke="#555"%s marker-end="url(#tip)"/>`+"\n",
		x1, y1, x1+columnGap/2, y1, x2-columnGap/2, y2, x2, y2, style)
}

func drawBox(r *resource.Resource, at box) string {
	colour := "#222"
	if r.Skip != "" {
		colour = "#aaa"
	}
	return fmt.Sprintf(`<g><title>%s</title><rect x="%d" y="%d" width="%d" height="%d" rx="5" fill="#f6f8fa" stroke="%s"/><text x="%d" y="%d" fill="%s">%s</text></g>`+"\n",
		html.EscapeString(r.ID.String()), at.x, at.y, at.width, boxHeight, colour, at.x+padding, at.y+boxHeight/2+4, colour, html.EscapeString(shorten(r.ID)))
}
