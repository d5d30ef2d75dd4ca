package markdown

import (
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/terminal"
)

const (
	columnGap = 2
	// leastColumn is how narrow a column may become before rows are written as paragraphs.
	leastColumn = 10
)

// table writes a table in columns, of which those that need most give way. Where they become too
// narrow, each row is a paragraph, with its further cells indented.
func (p *page) table(n *Node, first, indent string) {
	var rows [][][]word
	for _, r := range n.Children {
		var row [][]word
		for _, c := range r.Children {
			row = append(row, p.words(c))
		}
		rows = append(rows, row)
	}
	widths, fits := columnWidths(rows, p.Columns-len(indent))
	head := rows[0]
	if slices.ContainsFunc(head, func(cell []word) bool { return len(cell) > 0 }) && fits {
		p.row(head, widths, first, indent, terminal.Bold)
		var line []string
		for _, w := range widths {
			line = append(line, strings.Repeat("-", w))
		}
		p.line(indent + strings.Join(line, strings.Repeat(" ", columnGap)))
		first = indent
	}
	for _, row := range rows[1:] {
		if fits {
			p.row(row, widths, first, indent, "")
		} else {
			p.narrow(head, row, first, indent)
		}
		first = indent
	}
}

// columnWidths returns how wide the columns of a table are, and whether they have room side by
// side.
func columnWidths(rows [][][]word, room int) (widths []int, fits bool) {
	least := make([]int, len(rows[0]))
	widths = make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], width(cell))
			for _, w := range cell {
				least[i] = max(least[i], w.width())
			}
		}
	}
	room -= columnGap * (len(widths) - 1)
	for sum(widths) > room {
		widest := -1
		for i, w := range widths {
			if w > max(least[i], leastColumn) && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return widths, false
		}
		widths[widest]--
	}
	return widths, true
}

func sum(list []int) (n int) {
	for _, x := range list {
		n += x
	}
	return n
}

// row writes the cells of a row side by side.
func (p *page) row(row [][]word, widths []int, first, indent string, style terminal.Style) {
	cells, height := make([][][]word, len(row)), 1
	for i, cell := range row {
		cells[i] = folded(cell, widths[i])
		height = max(height, len(cells[i]))
	}
	for at := range height {
		var line terminal.Buffer
		gap := 0 // that nothing needs yet
		for i, cell := range cells {
			used := 0
			if at < len(cell) {
				line.Printf("%s%s", strings.Repeat(" ", gap), p.paint(cell[at], style))
				gap, used = 0, width(cell[at])
			}
			gap += widths[i] - used + columnGap
		}
		p.out.Printf("%s%s\n", first, line.Text())
		first = indent
	}
}

// narrow writes a row where columns have no room: the first cell, and below it the others, each
// with the head of its column.
func (p *page) narrow(head, row [][]word, first, indent string) {
	for i, cell := range row {
		if len(cell) == 0 {
			continue
		}
		if i == 0 {
			p.paragraph(cell, first, indent, "")
			first = indent
			continue
		}
		if len(head[i]) > 0 {
			last := slices.Clone(head[i])
			last[len(last)-1] = append(slices.Clip(last[len(last)-1]), part{text: ":"})
			cell = append(last, cell...)
		}
		p.paragraph(cell, indent+"    ", indent+"    ", "")
	}
}
