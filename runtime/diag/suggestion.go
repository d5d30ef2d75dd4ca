package diag

import (
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Nearest returns the candidate that word most likely means, "" if none is near. A candidate is near if it differs
// only in case, by at most two edits (one for words of two or three letters, none for one letter; a transposition
// counts as one edit), if it begins with word, or if its last part is word, as in insert_after for after. Among
// equally near candidates the first wins.
func Nearest(word string, candidates []string) string {
	if word == "" || len(word) > longestWord {
		return ""
	}
	limit := min(2, len(word)/2)
	if len(word) == 3 {
		limit = 1
	}
	best, at := "", limit+1
	for _, c := range candidates {
		if c == word {
			continue
		}
		if strings.EqualFold(c, word) {
			return c
		}
		if d := distance(word, c); d < at {
			best, at = c, d
		}
	}
	if best != "" || len(word) < 3 {
		return best
	}
	for _, c := range candidates {
		if c != word && strings.HasPrefix(c, word) {
			return c
		}
	}
	return LastPart(word, candidates)
}

// LastPart returns the first candidate of several parts whose last part is word, or "".
func LastPart(word string, candidates []string) string {
	for _, c := range candidates {
		if strings.HasSuffix(c, "_"+word) || strings.HasSuffix(c, "-"+word) {
			return c
		}
	}
	return ""
}

// longestWord limits the words that are compared, in bytes: the time grows with the product of both lengths.
const longestWord = 256

// Misspelling returns the candidate that word surely misspells, "" if word may be another word. A misspelling differs
// only in case or by a transposition, or, in words of four letters or more, by one letter added, missing or replaced
// (two from eight letters on). A plural is another word.
func Misspelling(word string, candidates []string) string {
	if len(word) > longestWord {
		return ""
	}
	for _, c := range candidates {
		exchanged := distance(word, c) == 1 && levenshtein.ComputeDistance(word, c) == 2
		limit := 1
		if len(word) >= 8 {
			limit = 2
		}
		switch {
		case c == word || c == word+"s" || word == c+"s":
		case strings.EqualFold(c, word), exchanged, len(word) >= 4 && distance(word, c) <= limit:
			return c
		}
	}
	return ""
}

// DidYouMean returns the hint `did you mean "x"?`, or "" if nothing is near.
func DidYouMean(word string, candidates []string) string {
	if near := Nearest(word, candidates); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}

// distance counts the edits between two words; a transposition of neighboring letters is one edit.
func distance(a, b string) int {
	d := levenshtein.ComputeDistance(a, b)
	if d == 2 && len(a) == len(b) {
		for i := range len(a) - 1 {
			if a[:i] == b[:i] && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:] {
				return 1
			}
		}
	}
	return d
}
