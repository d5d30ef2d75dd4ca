package cli

import (
	"strings"
	"unicode/utf8"

	"github.com/luaccm/ccm/runtime/terminal"
)

// Table prints rows of cells on standard output, each column as wide as its widest cell.
func (p printer) Table(rows [][]string) {
	for _, line := range TableLines(rows) {
		terminal.Fprintf(p.w, "%s\n", line)
	}
}

// TableLines lays out rows of cells. Cells may come from elsewhere, so control characters are made visible.
func TableLines(rows [][]string) []string {
	var widths []int
	for _, row := range rows {
		for i, text := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			row[i] = terminal.Line(text)
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	var lines []string
	for _, row := range rows {
		var b strings.Builder
		for i, text := range row {
			b.WriteString(text)
			b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text)+2))
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return lines
}
