// Package words formats numbers of things and shortens texts for messages and pages. It imports nothing of ccm.
package words

import (
	"fmt"
	"strings"
	"time"
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

// Duration formats a duration without units that are 0, and a number of whole days in days: 1h30m, 10m, 90d.
func Duration(d time.Duration) string {
	const day = 24 * time.Hour
	if d >= 2*day && d%day == 0 {
		return fmt.Sprintf("%dd", d/day)
	}
	text := d.String()
	for _, none := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, none) {
			text = strings.TrimSuffix(text, none[1:])
		}
	}
	return text
}

// Outcome returns the word of reports for an outcome of a resource as JSON has it: "up to date" for "stable".
func Outcome(outcome string) string {
	if outcome == "stable" {
		return "up to date"
	}
	return outcome
}
