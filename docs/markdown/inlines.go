package markdown

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// punctuation has the characters that have no special meaning after a backslash.
const punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"

// unescaped returns a text without the backslashes and entities of Markdown.
func unescaped(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && strings.IndexByte(punctuation, text[i+1]) >= 0 {
			i++
			if text[i] == '&' {
				b.WriteString("&amp;")
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return html.UnescapeString(b.String())
}

// inlines reads the text of a block, which begins on a line of the page.
func inlines(text string, number int) []*Node {
	r := inlineReader{text: text, number: number}
	r.read()
	return r.list
}

// An inlineReader reads the text of one line or one paragraph.
type inlineReader struct {
	text   string
	number int // of its first line
	from   int // where the plain text begins that was not added yet
	at     int
	list   []*Node
}

// add appends a node that ends at end, and the plain text before it.
func (r *inlineReader) add(n *Node, end int) {
	if plain := r.text[r.from:r.at]; plain != "" {
		r.list = append(r.list, &Node{Kind: KindText, Text: unescaped(plain), Line: r.line(r.from)})
	}
	if n != nil {
		r.list = append(r.list, n)
	}
	r.from, r.at = end, end
}

func (r *inlineReader) line(at int) int { return r.number + strings.Count(r.text[:at], "\n") }

func (r *inlineReader) read() {
	for r.at < len(r.text) {
		var n *Node
		end := 0
		switch rest := r.text[r.at:]; rest[0] {
		case '\\':
			r.at += min(2, len(rest))
			continue
		case '`':
			if n, end = r.code(); n == nil {
				r.at += run(rest)
				continue
			}
		case '[':
			n, end = r.link(KindLink, r.at)
		case '!':
			if strings.HasPrefix(rest, "![") {
				n, end = r.link(KindImage, r.at+1)
			}
		case '<':
			n, end = r.address()
		case '*', '_':
			if n, end = r.emphasis(); n == nil {
				r.at += run(rest)
				continue
			}
		}
		if n == nil {
			r.at++
			continue
		}
		r.add(n, end)
	}
	r.add(nil, len(r.text))
}

// run returns how often the first byte of a text is repeated.
func run(text string) int { return len(text) - len(strings.TrimLeft(text, text[:1])) }

// code reads a piece of code: it ends with as many backticks as it begins with.
func (r *inlineReader) code() (n *Node, end int) {
	from := r.at + run(r.text[r.at:])
	end = closing(r.text, from, r.text[r.at:from])
	if end < 0 {
		return nil, 0
	}
	code := strings.ReplaceAll(r.text[from:end], "\n", " ")
	if strings.HasPrefix(code, " ") && strings.HasSuffix(code, " ") && strings.TrimSpace(code) != "" {
		code = code[1 : len(code)-1]
	}
	return &Node{Kind: KindCodeSpan, Text: code, Line: r.line(from)}, end + from - r.at
}

// closing returns where the run of marks is that is just as long as another, -1 if there is none.
func closing(text string, from int, marks string) int {
	for from < len(text) {
		at := strings.IndexByte(text[from:], marks[0])
		if at < 0 {
			return -1
		}
		from += at
		if n := run(text[from:]); n == len(marks) {
			return from
		} else {
			from += n
		}
	}
	return -1
}

// link reads a link or a picture. Its bracket begins at open.
func (r *inlineReader) link(kind Kind, open int) (n *Node, end int) {
	bracket := r.bracket(open)
	if bracket < 0 || !strings.HasPrefix(r.text[bracket+1:], "(") {
		return nil, 0
	}
	depth := 0
	for end = bracket + 1; end < len(r.text); end++ {
		switch r.text[end] {
		case '\\':
			end++
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth == 0 {
			break
		}
	}
	if end >= len(r.text) {
		return nil, 0
	}
	destination := strings.TrimSpace(r.text[bracket+2 : end])
	if strings.ContainsAny(destination, " \n<>") { // neither titles nor blanks
		return nil, 0
	}
	inner := inlines(r.text[open+1:bracket], r.line(open))
	return &Node{Kind: kind, Destination: unescaped(destination), Children: inner, Line: r.line(open)}, end + 1
}

// bracket returns the end of the bracket that begins at open, or -1 if the bracket is not closed.
// Brackets in code do not count.
func (r *inlineReader) bracket(open int) int {
	depth := 0
	for i := open; i < len(r.text); i++ {
		switch r.text[i] {
		case '\\':
			i++
		case '`':
			marks := r.text[i : i+run(r.text[i:])]
			if end := closing(r.text, i+len(marks), marks); end >= 0 {
				i = end
			}
			i += len(marks) - 1
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// address reads a web address between angle brackets.
func (r *inlineReader) address() (n *Node, end int) {
	address, _, ok := strings.Cut(r.text[r.at+1:], ">")
	if !ok || !strings.HasPrefix(address, "https://") && !strings.HasPrefix(address, "http://") || strings.ContainsAny(address, " \n<") {
		return nil, 0
	}
	text := &Node{Kind: KindText, Text: address, Line: r.line(r.at)}
	return &Node{Kind: KindLink, Destination: address, Children: []*Node{text}, Line: text.Line}, r.at + len(address) + 2
}

// emphasis reads the text between two equal marks: one character for emphasis, two for strong
// emphasis.
func (r *inlineReader) emphasis() (n *Node, end int) {
	from := r.at + run(r.text[r.at:])
	marks := r.text[r.at:from]
	next, _ := utf8.DecodeRuneInString(r.text[from:])
	before, _ := utf8.DecodeLastRuneInString(r.text[:r.at])
	if len(marks) > 2 || from == len(r.text) || unicode.IsSpace(next) || marks[0] == '_' && isWord(before) {
		return nil, 0
	}
	for at := from; at < len(r.text); at++ {
		switch c := r.text[at]; c {
		case '\\':
			at++
		case '`':
			ticks := r.text[at : at+run(r.text[at:])]
			if end := closing(r.text, at+len(ticks), ticks); end >= 0 {
				at = end
			}
			at += len(ticks) - 1
		case marks[0]:
			n := run(r.text[at:])
			last, _ := utf8.DecodeLastRuneInString(r.text[:at])
			after, _ := utf8.DecodeRuneInString(r.text[at+n:])
			if n == len(marks) && !unicode.IsSpace(last) && (c == '*' || !isWord(after)) {
				inner := inlines(r.text[from:at], r.line(from))
				return &Node{Kind: KindEmphasis, Level: len(marks), Children: inner, Line: r.line(from)}, at + n
			}
			at += n - 1
		}
	}
	return nil, 0
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }
