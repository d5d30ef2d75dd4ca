package terminal

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// hang is the indentation of the second and further lines of prose.
const hang = "    "

// narrowest is the least width of a last column that is kept as a column.
const narrowest = 24

// Prose returns head and text, broken to the width of the terminal that w writes to; unchanged if w is not a terminal.
// Only the first line of text is prose of this program, and only it is broken: between words, but not in quotations,
// in commands, or in the texts that keep returns, such as names of resources and values of properties. keep may be
// nil, and is called only if the line is too long.
func Prose(w any, head, text Text, keep func() []string) Text {
	columns, _ := Size(w)
	return prose(columns, head, text, keep)
}

// HangingIndent returns head and text, broken to the width of the terminal that w writes to, with the further lines
// of text below its first word. If head leaves too little room, it is Prose.
func HangingIndent(w any, head, text Text) Text {
	columns, _ := Size(w)
	return hangingIndent(columns, head, text)
}

func hangingIndent(columns int, head, text Text) Text {
	column := visible(head.s)
	if columns <= 0 || columns-column < narrowest {
		return prose(columns, head, text, nil)
	}
	return Text{head.s + fold(text.s, columns, column, strings.Repeat(" ", column), nil)}
}

func prose(columns int, head, text Text, keep func() []string) Text {
	first, rest, several := strings.Cut(text.s, "\n")
	if columns > 0 && visible(head.s)+visible(first) > columns {
		var whole []string
		if keep != nil {
			whole = keep()
		}
		first = fold(first, columns, visible(head.s)%columns, hang, whole)
	}
	if several {
		first += "\n" + rest
	}
	return Text{head.s + first}
}

// Fit returns a page, such as the help of a command, broken to the width of the terminal that w writes to. Text in a
// column stays in its column if there is room. The lines of an unindented paragraph are joined first.
func Fit(w any, page string) Text {
	columns, _ := Size(w)
	return fit(columns, page)
}

func fit(columns int, page string) Text {
	lines := strings.Split(Lines(page), "\n")
	if columns <= 0 || !slices.ContainsFunc(lines, func(l string) bool { return visible(l) > columns }) {
		return Text{strings.Join(lines, "\n")}
	}
	var out []string
	for i := 0; i < len(lines); i++ {
		n := 1
		for isParagraph(lines[i]) && i+n < len(lines) && isParagraph(lines[i+n]) {
			n++
		}
		wide := slices.ContainsFunc(lines[i:i+n], func(l string) bool { return visible(l) > columns })
		switch {
		case !wide:
			out = append(out, lines[i:i+n]...)
		case n > 1:
			out = append(out, fold(strings.Join(lines[i:i+n], " "), columns, 0, "", nil))
		default:
			out = append(out, fitLine(columns, lines[i])...)
		}
		i += n - 1
	}
	return Text{strings.Join(out, "\n")}
}

// fitLine breaks one line of a page.
func fitLine(columns int, line string) []string {
	indent := strings.Repeat(" ", len(line)-len(strings.TrimLeft(line, " ")))
	column := textColumn(line)
	switch {
	case column == 0:
		return []string{fold(line, columns, 0, indent, nil)}
	case columns-column >= narrowest:
		return []string{fold(line, columns, 0, strings.Repeat(" ", column), nil)}
	}
	// The last column is too narrow and goes on the next lines.
	below := indent + hang
	return []string{strings.TrimRight(line[:column], " "), fold(below+line[column:], columns, 0, below, nil)}
}

// isParagraph reports whether a line can be part of a paragraph: it begins with a word and does not end in a colon.
func isParagraph(line string) bool {
	return line != "" && !strings.ContainsAny(line[:1], " -#|`") && !strings.HasSuffix(line, ":")
}

// textColumn returns the start of the last column of a table's line, 0 for other lines.
func textColumn(line string) int {
	indent := len(line) - len(strings.TrimLeft(line, " "))
	if at := strings.LastIndex(line, "  "); at > indent {
		return at + 2
	}
	return 0
}

// fold breaks a line at a width in columns. used columns of its first line are taken already; hang begins each
// further line.
func fold(line string, columns, used int, hang string, keep []string) string {
	var b strings.Builder
	room := used == 0 // the line is still empty
	for i, piece := range pieces(line, keep) {
		width := visible(piece)
		switch {
		case i == 0 && used+width > columns && !room, i > 0 && used+1+width > columns && !room:
			b.WriteString("\n" + hang)
			used = len(hang)
		case i > 0:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(piece)
		used, room = used+width, strings.TrimSpace(piece) == ""
	}
	return b.String()
}

// held replaces a blank that must not be broken. No text contains it, because it is escaped.
const held = "\x00"

// pieces splits a line at the blanks where it may be broken.
func pieces(line string, keep []string) (out []string) {
	for _, text := range keep {
		if text = Line(text); strings.Contains(text, " ") {
			line = strings.ReplaceAll(line, text, strings.ReplaceAll(text, " ", held))
		}
	}
	if command, rest, ok := strings.Cut(line, ": exit status "); ok {
		line = strings.ReplaceAll(command, " ", held) + ": exit status " + rest
	}
	words := strings.Split(line, " ")
	for i := 0; i < len(words); {
		n := together(words[i:])
		out = append(out, strings.ReplaceAll(strings.Join(words[i:i+n], " "), held, " "))
		i += n
	}
	return out
}

// together returns the number of words at the start that must not be separated.
func together(words []string) int {
	first := strings.TrimLeft(words[0], "(")
	next := ""
	if len(words) > 1 {
		next = words[1]
	}
	switch {
	case len(words) == 1:
	case first == "":
		for i, word := range words { // an indentation, or columns of a table
			if word != "" {
				return i + together(words[i:])
			}
		}
		return len(words)
	case strings.ContainsAny(first[:1], "\"'`"):
		return max(1, quotation(words, first[:1]))
	case strings.Contains(first, "{"), strings.HasPrefix(next, "{"):
		return max(1, braces(words))
	case next == "=":
		return min(3, len(words))
	case strings.HasPrefix(first, "-") && !endsClause(first) && !speech[next]:
		return 2
	case commands[first]:
		n := 1
		for n < len(words) && !endsClause(words[n-1]) && !speech[words[n]] {
			n++
		}
		return n
	}
	return 1
}

// quotation returns the number of words in a quotation, 0 if it does not end.
func quotation(words []string, mark string) int {
	for i, word := range words {
		word = strings.TrimRight(word, ".,;:)")
		if i == 0 {
			_, word, _ = strings.Cut(word, mark)
		}
		if strings.HasSuffix(word, mark) && !strings.HasSuffix(word, `\`+mark) {
			return i + 1
		}
	}
	return 0
}

// braces returns the number of words until all braces are closed, 0 if they are not closed.
func braces(words []string) int {
	open, seen := 0, false
	for i, word := range words {
		seen = seen || strings.Contains(word, "{")
		open += strings.Count(word, "{") - strings.Count(word, "}")
		if seen && open <= 0 {
			return i + 1
		}
	}
	return 0
}

func endsClause(word string) bool { return strings.ContainsAny(word[max(0, len(word)-1):], ",;:.)") }

func set(words string) map[string]bool {
	out := make(map[string]bool)
	for word := range strings.FieldsSeq(words) {
		out[word] = true
	}
	return out
}

var (
	// commands are words that begin a command for the user to copy.
	commands = set("ccm sudo chmod chown cd export eval unset apt-get dnf systemctl rm mv git")
	// speech are words that end a command that has no other end.
	speech = set(`and or to is was are that which does did can could will would has have begins makes goes
		applies starts ends renews reads checks shows removes finds takes gives prints knows does just cannot writes`)
)

// visible returns the width of a line with styles.
func visible(s string) int {
	if strings.Contains(s, "\x1b") {
		s = styles().ReplaceAllString(s, "")
	}
	return Width(Text{s})
}

var styles = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\x1b\\[[0-9;]*m") })
