package diag

import (
	"fmt"
	"io"
	"strings"
)

// Sources finds the text of a file that positions speak of. It returns false
// if the text is not known, and the message is then printed without its line.
type Sources func(file string) (text string, ok bool)

// Render writes err to w: each mistake on a line of its own, below it the line
// of the source that is meant with a caret under the place, then its notes.
// Every message begins with prefix, which may be "".
func Render(w io.Writer, prefix string, err error, src Sources) {
	var list List
	list.Add(err)
	for _, e := range list {
		place := ""
		if !e.Pos.IsZero() {
			place = e.Pos.String() + ": "
		}
		fmt.Fprintf(w, "%s%s%s\n", prefix, place, e.Message())
		excerpt(w, e.Pos, src)
		for _, n := range e.Notes {
			fmt.Fprintf(w, "  %s: %s\n", n.Pos, n.Text)
		}
	}
}

// excerpt writes the line at p and a caret below it.
func excerpt(w io.Writer, p Pos, src Sources) {
	if src == nil || p.Line <= 0 {
		return
	}
	text, ok := src(p.File)
	if !ok {
		return
	}
	line, ok := lineOf(text, p.Line)
	if !ok || strings.TrimSpace(line) == "" {
		return
	}
	num := fmt.Sprint(p.Line)
	fmt.Fprintf(w, "  %s | %s\n", num, line)
	if p.Col < 1 || p.Col > len(line)+1 {
		return
	}
	// Tabs are kept so that the caret stands under its letter on any terminal.
	pad := strings.Map(func(r rune) rune {
		if r == '\t' {
			return '\t'
		}
		return ' '
	}, line[:p.Col-1])
	width := max(1, min(p.Len, len(line)-p.Col+1))
	fmt.Fprintf(w, "  %s | %s%s\n", strings.Repeat(" ", len(num)), pad, strings.Repeat("^", width))
}

// lineOf returns line n of text, counted from 1.
func lineOf(text string, n int) (string, bool) {
	for line := range strings.SplitSeq(text, "\n") {
		if n--; n == 0 {
			return strings.TrimSuffix(line, "\r"), true
		}
	}
	return "", false
}
