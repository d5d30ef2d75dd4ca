package terminal

import "strings"

// TextWidth is the line width of texts for people.
const TextWidth = 80

// Columns returns the line width for text on w: [TextWidth], or less on a narrower terminal.
func Columns(w any) int {
	if columns, _ := Size(w); columns > 0 {
		return min(columns, TextWidth)
	}
	return TextWidth
}

// Wrap breaks a text into lines that begin with indent and have at most a number of columns.
func Wrap(text, indent string, columns int) string {
	var b strings.Builder
	col := 0
	for word := range strings.FieldsSeq(text) {
		width := Width(Text{word})
		switch {
		case col == 0:
			b.WriteString(indent)
			col = len(indent)
		case col+1+width > columns:
			b.WriteString("\n" + indent)
			col = len(indent)
		default:
			b.WriteByte(' ')
			col++
		}
		b.WriteString(word)
		col += width
	}
	return b.String()
}
