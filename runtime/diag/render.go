package diag

import (
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/luaccm/ccm/runtime/terminal"
)

// Sources returns the text of a file. If it reports false, messages are printed without the source line.
type Sources func(file string) (text string, ok bool)

// Render writes an error: each mistake on a line, below it the source line with a caret, then the notes. Each message
// begins with prefix, which may be "". At most [MaxShown] mistakes are written, and the number of the others. Further
// lines of a message are indented, so that a text with line breaks cannot imitate another message.
func Render(w io.Writer, prefix string, err error, src Sources) {
	render(w, prefix, "    ", err, src)
}

// RenderFlush is Render without the indentation, for messages that have several lines by design, such as failed
// assertions.
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
		rest.Subject = "" // a name has one line
		terminal.Fprintf(w, "%s\n", terminal.Prose(w, terminal.LineText(head), terminal.IndentedText(rest.Message(), further), nil))
		excerpt(w, e.Pos, src)
		for _, n := range e.Notes {
			terminal.Fprintf(w, "  %s: %s\n", n.Pos, n.Text)
		}
	}
}

// MaxShown limits the mistakes that are printed.
const MaxShown = 100

// maxLine limits the part of a source line that is printed, in bytes.
const maxLine = 400

// around returns at most most bytes of a line around a column, and the column in that part.
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

// excerpt writes the source line of a position with a caret below it.
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
	if columns, _ := terminal.Size(w); columns > 0 { // the caret needs the source on one terminal line
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

// blank returns white space as wide as text. Tabs stay tabs, so that the caret is right for any tab width.
func blank(line string) string {
	parts := strings.Split(line, "\t")
	for i, part := range parts {
		parts[i] = strings.Repeat(" ", terminal.Width(terminal.LineText(part)))
	}
	return strings.Join(parts, "\t")
}

// lineOf returns line n of a text, counted from 1.
func lineOf(text string, n int) (string, bool) {
	for line := range strings.SplitSeq(text, "\n") {
		if n--; n == 0 {
			return strings.TrimSuffix(line, "\r"), true
		}
	}
	return "", false
}
