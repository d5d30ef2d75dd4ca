package diag

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Sources finds the text of a file that positions speak of. It returns false
// if the text is not known, and the message is then printed without its line.
type Sources func(file string) (text string, ok bool)

// Render writes err to w: each mistake on a line of its own, below it the line
// of the source that is meant with a caret under the place, then its notes.
// Every message begins with prefix, which may be "". Of more than [MaxShown]
// mistakes the first are written, and how many more there are.
func Render(w io.Writer, prefix string, err error, src Sources) {
	var list List
	list.Add(err)
	for i, e := range list {
		if i == MaxShown {
			fmt.Fprintf(w, "%sand %d more mistakes\n", prefix, len(list)-i)
			return
		}
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

// MaxShown is how many mistakes are shown at once. Nobody reads more.
const MaxShown = 100

// maxLine is how much is shown of a line.
const maxLine = 400

// around returns what is shown of a long line, and the column in it that stands
// for col.
func around(line string, col int) (string, int) {
	if len(line) <= maxLine {
		return line, col
	}
	begin := min(max(0, col-1-maxLine/4), len(line)-maxLine/2)
	end := min(begin+maxLine, len(line))
	for begin > 0 && !utf8.RuneStart(line[begin]) {
		begin--
	}
	for end < len(line) && !utf8.RuneStart(line[end]) {
		end++
	}
	before, after := "", ""
	if begin > 0 {
		before = "... "
	}
	if end < len(line) {
		after = " ..."
	}
	if col > 0 {
		col += len(before) - begin
	}
	return before + line[begin:end] + after, col
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
	if p.Col > len(line)+1 {
		p.Col = 0
	}
	line, p.Col = around(line, p.Col)
	fmt.Fprintf(w, "  %s | %s\n", num, line)
	if p.Col < 1 {
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
