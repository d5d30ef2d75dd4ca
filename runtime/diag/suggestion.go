package diag

import (
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Nearest returns the candidate that word was most likely meant to be: the
// same but for case, at most two edits away (one for words of two or three
// letters, none for a single one; exchanging two neighbours counts as one edit), one that begins
// with word, or one whose last part is word, such as insert_after for after. It returns "" if none is near. The first of several equally near
// candidates wins.
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

// LastPart returns the first candidate of several parts of which word is the last, or "".
func LastPart(word string, candidates []string) string {
	for _, c := range candidates {
		if strings.HasSuffix(c, "_"+word) || strings.HasSuffix(c, "-"+word) {
			return c
		}
	}
	return ""
}

// longestWord is the length, in bytes, of words that are compared: it takes time that grows with
// its product with the length of a candidate.
const longestWord = 256

// Misspelling returns the candidate of which word is surely a misspelling, or "" if it may as
// well be another word: the same but for case, with two neighbours exchanged, or, for words of
// four letters or more, with one letter added, left out or another (two from eight letters on).
// A plural is another word.
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

// distance counts edits; an exchange of two neighbouring letters is one.
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
