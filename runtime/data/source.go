package data

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/schema"
)

// A source is the text of a file. Its places are computed when a message needs them.
type source struct {
	file, text    string
	hasYAMLBreaks func() bool  // whether there are line breaks other than a newline
	lines         func() []int // offsets at which lines begin
	yamlLines     func() []int // the same with all the line breaks of YAML
	// annotations are the comment lines that begin with @, by the line and column of the key that they belong to.
	annotations map[[2]int32][]annotation
	// place returns the line of the template that wrote a line of the text; nil if no
	// template did.
	place func(line int) diag.Pos
	// check returns the error with which parsing is to end; may be nil.
	check func() error
}

// interruption returns the error of check.
func (s *source) interruption() error {
	if s.check == nil {
		return nil
	}
	return s.check()
}

func newSource(file, text string) *source {
	s := &source{file: file, text: text}
	s.hasYAMLBreaks = sync.OnceValue(func() bool {
		// A quotation mark often begins as these separators do.
		return strings.Contains(text, "\r") || strings.Contains(text, "\u0085") ||
			strings.Contains(text, "\u2028"[:2]) && (strings.Contains(text, "\u2028") || strings.Contains(text, "\u2029"))
	})
	s.lines = sync.OnceValue(func() []int {
		at := make([]int, 1, strings.Count(text, "\n")+1)
		for i := 0; ; {
			n := strings.IndexByte(text[i:], '\n')
			if n < 0 {
				return at
			}
			i += n + 1
			at = append(at, i)
		}
	})
	s.yamlLines = sync.OnceValue(func() []int {
		if !s.hasYAMLBreaks() {
			return s.lines()
		}
		at := []int{0}
		for i, r := range text {
			switch {
			case r == '\r' && strings.HasPrefix(text[i:], "\r\n"):
			case r == '\r', r == '\n', r == '\u0085', r == '\u2028', r == '\u2029':
				at = append(at, i+utf8.RuneLen(r))
			}
		}
		return at
	})
	return s
}

// annotate records the annotations of the key at a place.
func (s *source) annotate(line, col int32, above []annotation) {
	if s.annotations == nil {
		s.annotations = make(map[[2]int32][]annotation)
	}
	s.annotations[[2]int32{line, col}] = above
}

// line returns the text of a line, counted from 1.
func (s *source) line(n int) string {
	at := s.lines()
	if n < 1 || n > len(at) {
		return ""
	}
	end := len(s.text)
	if n < len(at) {
		end = at[n] - 1
	}
	return strings.TrimSuffix(s.text[at[n-1]:end], "\r")
}

// offset returns the offset of the character at line and col (both from 1).
func (s *source) offset(line, col int) int {
	at := s.yamlLines()
	if line < 1 || line > len(at) {
		return len(s.text)
	}
	i := at[line-1]
	for ; col > 1 && i < len(s.text) && s.text[i] != '\n'; col-- {
		_, size := utf8.DecodeRuneInString(s.text[i:])
		i += size
	}
	return i
}

// pos returns the place of length bytes at an offset.
func (s *source) pos(offset, length int) diag.Pos {
	at := s.lines()
	lo, hi := 0, len(at)
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; at[mid] <= offset {
			lo = mid
		} else {
			hi = mid
		}
	}
	return s.mapPosition(diag.Pos{File: s.file, Line: lo + 1, Col: offset - at[lo] + 1, Len: length})
}

// mapPosition returns p or, for a generated text, the line of the template that wrote it.
func (s *source) mapPosition(p diag.Pos) diag.Pos {
	if s.place != nil {
		return s.place(p.Line)
	}
	return p
}

// Pos returns the place of n.
func (n *Node) Pos() diag.Pos {
	if n.src == nil {
		return diag.Pos{}
	}
	if n.line == 0 {
		return n.src.mapPosition(diag.Pos{File: n.src.file, Line: 1, Col: 1})
	}
	begin, end := n.extent()
	return n.src.pos(begin, end-begin)
}

// At returns the place of length bytes at an offset inside the text of n.
func (n *Node) At(offset, length int) diag.Pos {
	if n.src == nil || n.line == 0 {
		return n.Pos()
	}
	from := n.places()
	begin := from[min(max(offset, 0), len(from)-1)]
	end := begin + length
	if last := offset + length - 1; length > 0 && last < len(from)-1 {
		end = from[last] + 1
		if n.style == doubleQuoted || n.style == singleQuoted {
			end = from[last+1] // an escape is longer than its character
		}
	}
	p := n.src.pos(begin, end-begin)
	if n.src.place != nil {
		return p
	}
	p.Len = max(0, min(p.Len, len(n.src.line(p.Line))-p.Col+1))
	return p
}

// extent returns the beginning of n, and its end on the first line. A list or a table extends over
// its first character at most.
func (n *Node) extent() (begin, end int) {
	begin = n.start()
	switch {
	case n.Kind == schema.List || n.Kind == schema.Map || n.Kind == schema.Nil && n.Text == "":
		return begin, begin
	case n.style == literal || n.style == folded:
		end = begin + len(strings.TrimRight(until(n.src.text[begin:], " \t\r\n"), " "))
		return begin, end
	case n.style == plain:
		end = begin + len(n.Text)
	default:
		if rest := n.src.text[min(begin+1, len(n.src.text)):]; len(rest) > len(n.Text) && rest[:len(n.Text)] == n.Text && rest[len(n.Text)] == n.src.text[begin] && !strings.ContainsAny(n.Text, "\\\"'\n") {
			return begin, begin + len(n.Text) + 2 // without escapes
		}
		from := n.places()
		end = from[len(from)-1] + 1 // with the closing quote
	}
	if nl := strings.IndexByte(n.src.text[begin:min(end, len(n.src.text))], '\n'); nl >= 0 {
		end = begin + nl
	}
	return begin, end
}

// until returns s up to the first of the given characters.
func until(s, stop string) string {
	if i := strings.IndexAny(s, stop); i >= 0 {
		return s[:i]
	}
	return s
}

// start returns the offset of n after its anchor and tag.
func (n *Node) start() int {
	i := n.src.offset(int(n.line), int(n.col))
	if n.Kind == schema.List || n.Kind == schema.Map {
		return i
	}
	text := n.src.text
	for i < len(text) && (text[i] == '&' || text[i] == '!') {
		rest := text[i+len(until(text[i:], " \t\r\n")):]
		next := strings.TrimLeft(rest, " \t\r\n")
		if next == "" || n.Kind == schema.Nil && n.Text == "" {
			break
		}
		i = len(text) - len(next)
	}
	return i
}

// places returns the offset in the file for every byte of the text of n, and for the end of the
// text. Text and file differ only in white space and escapes, so the function walks along both.
func (n *Node) places() []int {
	text, i := n.src.text, n.start()
	switch n.style {
	case singleQuoted, doubleQuoted:
		i++
	case literal, folded:
		i += len(until(text[i:], "\n")) + 1
	}
	at := make([]int, 0, len(n.Text)+1)
	for j := 0; j < len(n.Text); {
		c := n.Text[j]
		if c == ' ' || c == '\n' || c == '\t' {
			at = append(at, min(i, len(text)))
			j++
			if i < len(text) && (text[i] == c || text[i] == ' ') {
				i++
			} else if i+1 < len(text) && text[i] == '\\' && n.style == doubleQuoted {
				i += 2
			}
			continue
		}
		for i < len(text) && strings.IndexByte(" \t\r\n", text[i]) >= 0 {
			i++
		}
		width, size := 1, 1
		if i < len(text) {
			width, size = n.escape(text[i:], j)
		}
		if size == 0 { // an escape that stands for nothing
			i += width
			continue
		}
		for k := range size {
			where := i
			if width == size {
				where += k
			}
			at = append(at, min(where, len(text)))
		}
		i, j = i+width, j+size
	}
	return append(at, min(i, len(text)))
}

// escape returns the number of bytes in the file and the number of bytes in the text for the
// character at byte j of the text.
func (n *Node) escape(file string, j int) (width, size int) {
	switch {
	case n.style == singleQuoted && strings.HasPrefix(file, "''"):
		return 2, 1
	case n.style != doubleQuoted || file[0] != '\\' || len(file) < 2:
		return 1, 1
	}
	_, size = utf8.DecodeRuneInString(n.Text[j:])
	switch file[1] {
	case 'x':
		return min(4, len(file)), size
	case 'u':
		return min(6, len(file)), size
	case 'U':
		return min(10, len(file)), size
	case '\n', '\r':
		return 2, 0
	}
	return 2, size
}
