package diag

import (
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/luaccm/ccm/runtime/terminal"
)

// Sources finds the text of a file that positions speak of. It returns false
// if the text is not known, and the message is then printed without its line.
type Sources func(file string) (text string, ok bool)

// Render writes err to w: each mistake on a line of its own, below it the line
// of the source that is meant with a caret under the place, then its notes.
// Every message begins with prefix, which may be "". Of more than [MaxShown]
// mistakes the first are written, and how many more there are. The further lines of
// a message are indented: none can be taken for another message.
func Render(w io.Writer, prefix string, err error, src Sources) {
	render(w, prefix, "    ", err, src)
}

// RenderFlush is Render without the indentation, for messages that are written in
// lines, such as those of assertions.
func RenderFlush(w io.Writer, err error, src Sources) { render(w, "", "", err, src) }

func render(w io.Writer, prefix, further string, err error, src Sources) {
	var list List
	list.Add(err)
	for i, e := range list {
		if i == MaxShown {
			terminal.Fprintf(w, "%sand %d more mistakes\n", prefix, len(list)-i)
			return
		}
		head := prefix
		if !e.Pos.IsZero() {
			head += e.Pos.String() + ": "
		}
		if e.Subject != "" {
			head += e.Subject + ": "
		}
		rest := *e
		rest.Subject = "" // a name is no text of several lines
		terminal.Fprintf(w, "%s\n", terminal.Prose(w, terminal.LineText(head), terminal.IndentedText(rest.Message(), further), nil))
		excerpt(w, e.Pos, src)
		for _, n := range e.Notes {
			terminal.Fprintf(w, "  %s: %s\n", n.Pos, n.Text)
		}
	}
}

// MaxShown is how many mistakes are shown at once. Nobody reads more.
const MaxShown = 100

// maxLine is how much is shown of a line at most.
const maxLine = 400

// around returns what is shown of a line that is longer than most, and the column in it
// that stands for col.
func around(line string, col, most int) (string, int) {
	if len(line) <= most {
		return line, col
	}
	most -= len("...  ...")
	begin := min(max(0, col-1-most/4), len(line)-most/2)
	end := min(begin+most, len(line))
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
	num := strconv.Itoa(p.Line)
	if p.Col > len(line)+1 {
		p.Col = 0
	}
	most := maxLine
	if columns, _ := terminal.Size(w); columns > 0 { // a caret stands below one line
		most = max(32, min(most, columns-len(num)-len("   | ")))
	}
	line, p.Col = around(line, p.Col, most)
	terminal.Fprintf(w, "  %s | %s\n", num, terminal.LinesText(line))
	if p.Col < 1 {
		return
	}
	before, meant := line[:p.Col-1], line[p.Col-1:]
	meant = meant[:min(max(p.Len, 0), len(meant))]
	carets := strings.Repeat("^", max(1, terminal.Width(terminal.LineText(meant))))
	terminal.Fprintf(w, "  %s | %s%s\n", strings.Repeat(" ", len(num)), terminal.LinesText(blank(before)), carets)
}

// blank returns blanks that take as many columns as the text that is shown of a
// line. Tabs are kept so that a caret stands under its letter on any terminal.
func blank(line string) string {
	parts := strings.Split(line, "\t")
	for i, part := range parts {
		parts[i] = strings.Repeat(" ", terminal.Width(terminal.LineText(part)))
	}
	return strings.Join(parts, "\t")
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
