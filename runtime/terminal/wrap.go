package terminal

import "strings"

// TextWidth is how wide the lines of texts for people are.
const TextWidth = 80

// Wrap breaks a text into lines of at most [TextWidth] bytes that begin with indent.
func Wrap(text, indent string) string {
	var b strings.Builder
	col := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case col == 0:
			b.WriteString(indent)
			col = len(indent)
		case col+1+len(word) > TextWidth:
			b.WriteString("\n" + indent)
			col = len(indent)
		default:
			b.WriteByte(' ')
			col++
		}
		b.WriteString(word)
		col += len(word)
	}
	return b.String()
}
