package fleet

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/terminal"
)

// printTable prints rows with the same number of columns, each column as wide as its widest text.
func printTable(e *cli.Env, rows [][]string) {
	for _, line := range tableLines(rows) {
		terminal.Fprintf(e.Stdout, "%s\n", line)
	}
}

// tableLines lays out rows. The texts come from nodes, so control characters are made visible.
func tableLines(rows [][]string) []string {
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

// counted formats a number with a noun, which is given in the singular.
func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// ago formats the time since a moment in one unit.
func ago(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
