package markdown

import (
	"strconv"
	"strings"
	"unicode"
)

// anchors counts the headings of each name.
type anchors map[string]int

// name names a heading as the web sites do on which Markdown is read (small letters, digits,
// hyphens and underscores; a blank becomes a hyphen), so that a link holds there too.
func (a anchors) name(heading string) string {
	id := strings.Map(func(r rune) rune {
		switch {
		case r == ' ', r == '-':
			return '-'
		case r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
	n := a[id]
	a[id]++
	if n > 0 {
		id += "-" + strconv.Itoa(n)
	}
	return id
}
