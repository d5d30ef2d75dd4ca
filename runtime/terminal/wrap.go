package terminal

import "strings"

// TextWidth is how wide the lines of texts for people are.
const TextWidth = 80

// Columns returns how wide lines are that are written to w: [TextWidth], and no more than a
// terminal has.
func Columns(w any) int {
	if columns, _ := Size(w); columns > 0 {
		return min(columns, TextWidth)
	}
	return TextWidth
}

// Wrap breaks a text into lines of at most that many columns that begin with indent.
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
