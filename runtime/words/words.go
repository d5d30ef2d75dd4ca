// Package words formats numbers of things and shortens texts for messages and pages. It imports nothing of ccm.
package words

import (
	"fmt"
	"strings"
)

// Count formats a number of things: 1 node, 3 nodes. One is the word for one thing. The word for several is many, or else
// one with an s.
func Count(n int, one string, many ...string) string {
	switch {
	case n == 1:
		return "1 " + one
	case len(many) > 0:
		return fmt.Sprintf("%d %s", n, many[0])
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// FirstLine returns text up to its first line break.
func FirstLine(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return first
}

// FirstSentence returns the first sentence of text on one line. A full stop ends a sentence if a capital letter follows.
func FirstSentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	for at := 0; ; {
		i := strings.Index(text[at:], ". ")
		if i < 0 {
			return text
		}
		at += i + 2
		if text[at] >= 'A' && text[at] <= 'Z' {
			return text[:at-1]
		}
	}
}

// Shorten returns text, or its beginning with three dots if it has more than most bytes. It does not split characters.
func Shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-3], "") + "..."
}
