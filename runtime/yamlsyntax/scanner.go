package yamlsyntax

import (
	"strconv"
	"strings"
)

// A scanner goes through the tokens of a text and finds what the library has to see differently:
//
//   - \/ in double quotes, ? in and : before a plain scalar in brackets: stand-ins, which are restored in the nodes
//   - a key in braces that is not on the line of its colon: ? before it
//   - a tab behind a dash, ? or colon, or at the beginning of a line, unless it indents a collection: a space
//   - | before a text that begins with a tab: | with the number of spaces before the tab
//   - %YAML 1.2: %YAML 1.1
//   - ... before a document without ---: ---
//   - blanks at the end of the text: a line end behind them
//   - the tag ! of a scalar, which makes it a string
//   - names of anchors with other characters than letters, digits, _ and -, which the library cuts off: an error
//
// Texts that are not valid YAML need no care: the library refuses them.
type scanner struct {
	text string
	at   int
	// lineStart is the offset of the current line, and line its number from 0.
	lineStart, line int
	// parent is the column of the key or dash whose value is read outside brackets, -1 at the top of a document.
	parent int
	// first is the offset of the first token of the line behind the last dash, ? or colon, -1 if there is none.
	// firstColumn is its column.
	first, firstColumn int
	tabs               []int // offsets of tabs before the token at first
	node               int   // offset of the first property (& or !) of the next node, -1 if there is none
	flow               []bracket
	quoted             bool // the last token was a scalar in quotes or a closing bracket
	directives         bool // directives may follow
	end                int  // offset of a ... before the next token, -1 if there is none

	standIns [3]string
	edits    []edit
	texts    []int // offsets of nodes with the tag !
	failed   *Error
	failedAt int
}

// A bracket is an open { or [.
type bracket struct {
	isMap    bool
	entry    int // offset of the first token of the current entry, -1 if there is none
	line     int // of the entry
	explicit bool
	value    bool // behind the colon
}

// Indices of stand-ins.
const (
	question = iota
	colon
	backslash
)

// newScanner returns a scanner. Stand-ins are noncharacters of Unicode, which texts hardly contain.
func newScanner(text string) *scanner {
	s := &scanner{text: text, parent: -1, first: -1, node: -1, directives: true, end: -1}
	r := '\uFDD3'
	for i := range s.standIns {
		for s.standIns[i] == "" || strings.Contains(text, s.standIns[i]) && r < '\uFDEF' {
			s.standIns[i] = string(r)
			r++
		}
	}
	return s
}

func (s *scanner) replace(at, size int, text string) { s.edits = append(s.edits, edit{at, size, text}) }

// is reports whether a character is at an offset.
func (s *scanner) is(at int, c byte) bool { return at < len(s.text) && s.text[at] == c }

// isBlank reports whether a space, tab, line end or the end of the text is at an offset.
func (s *scanner) isBlank(at int) bool {
	return at >= len(s.text) || s.text[at] == ' ' || s.text[at] == '\t' || LineBreak(s.text[at:]) > 0
}

// isFlow reports whether a character that has a meaning in brackets is at an offset.
func (s *scanner) isFlow(at int) bool {
	return at < len(s.text) && strings.IndexByte(",[]{}", s.text[at]) >= 0
}

// newLine moves over a line end, if one is at the current offset.
func (s *scanner) newLine() bool {
	n := LineBreak(s.text[s.at:])
	if n == 0 {
		return false
	}
	s.at += n
	s.lineStart = s.at
	s.line++
	return true
}

// space moves over a space or tab, if one is at the current offset.
func (s *scanner) space() bool {
	if s.is(s.at, ' ') || s.is(s.at, '\t') {
		s.at++
		return true
	}
	return false
}

// toLineEnd moves to the end of the line.
func (s *scanner) toLineEnd() {
	for s.at < len(s.text) && LineBreak(s.text[s.at:]) == 0 {
		s.at++
	}
}

// marker reports whether --- or ... is at the current offset, the beginning of a line.
func (s *scanner) marker(mark string) bool {
	return s.at == s.lineStart && strings.HasPrefix(s.text[s.at:], mark) && s.isBlank(s.at+len(mark))
}

func (s *scanner) scan() {
	s.at = len(s.text) - len(strings.TrimPrefix(s.text, "\ufeff"))
	s.lineStart = s.at
	for s.failed == nil && s.at < len(s.text) {
		s.token()
	}
	s.settle(true)
	if tail := strings.TrimRight(s.text, " "); tail != s.text && strings.HasSuffix(tail, "\n") {
		s.replace(len(s.text), 0, "\n")
	}
}

// settle ends the token at first. Tabs before it become spaces, unless it was the key or dash of another collection,
// which tabs cannot indent.
func (s *scanner) settle(convert bool) {
	if convert {
		for _, at := range s.tabs {
			s.replace(at, 1, " ")
		}
	}
	s.first, s.tabs = -1, nil
}

// blanks moves over blanks, and collects the tabs before the next token or line end.
func (s *scanner) blanks() {
	for ; s.is(s.at, ' ') || s.is(s.at, '\t'); s.at++ {
		if s.text[s.at] == '\t' {
			s.tabs = append(s.tabs, s.at)
		}
	}
}

// token moves over blanks and one token.
func (s *scanner) token() {
	switch atStart := s.at == s.lineStart; {
	case s.marker("---"):
		s.settle(true)
		s.parent, s.flow, s.node, s.end, s.directives = -1, nil, -1, -1, false
		s.at += len("---")
		return
	case s.marker("..."):
		s.settle(true)
		s.parent, s.flow, s.node, s.end, s.directives = -1, nil, -1, s.at, true
		s.toLineEnd()
		return
	case atStart && s.is(s.at, '%') && s.directives:
		const version = "%YAML 1."
		if s.end = -1; strings.HasPrefix(s.text[s.at:], version) && s.at+len(version) < len(s.text) && s.isBlank(s.at+len(version)+1) {
			s.replace(s.at+len(version), 1, "1")
		}
		s.toLineEnd()
		return
	case atStart && len(s.flow) == 0:
		s.settle(true)
		s.blanks()
	default:
		for s.space() {
		}
	}
	if s.newLine() || s.at == len(s.text) {
		return
	}
	if s.text[s.at] == '#' && (s.at == s.lineStart || s.isBlank(s.at-1)) {
		s.toLineEnd()
		return
	}
	if s.end >= 0 {
		s.replace(s.end, len("..."), "---")
		s.end = -1
	}
	s.directives = false
	if len(s.flow) > 0 {
		s.inFlow()
	} else {
		s.inBlock()
	}
}

func (s *scanner) inBlock() {
	if s.first < 0 {
		s.first, s.firstColumn = s.at, s.at-s.lineStart
	}
	switch c := s.text[s.at]; {
	case strings.IndexByte("-?:", c) >= 0 && s.isBlank(s.at+1):
		s.parent = s.firstColumn
		if c != ':' {
			s.parent = s.at - s.lineStart
		}
		s.settle(false)
		s.at++
		s.node = -1
		s.blanks()
	case c == '|' || c == '>':
		s.blockScalar()
	case c == '[' || c == '{':
		s.open()
	default:
		s.leaf()
	}
}

func (s *scanner) inFlow() {
	in := &s.flow[len(s.flow)-1]
	c := s.text[s.at]
	if in.entry < 0 && c != ',' {
		in.entry, in.line = s.at, s.line
	}
	quoted := s.quoted
	s.quoted = false
	switch {
	case c == '[' || c == '{':
		s.open()
	case c == ']' || c == '}':
		s.flow = s.flow[:len(s.flow)-1]
		s.at++
		s.quoted = true
	case c == ',':
		*in = bracket{isMap: in.isMap, entry: -1}
		s.node = -1
		s.at++
	case c == '?' && s.isBlank(s.at+1):
		in.explicit = true
		s.at++
	case c == ':' && (quoted || s.isBlank(s.at+1) || s.isFlow(s.at+1)):
		if in.isMap && !in.explicit && !in.value && in.line != s.line && in.entry < s.at {
			s.replace(in.entry, 0, "?")
		}
		in.value = true
		s.node = -1
		s.at++
	case c == ':':
		s.replace(s.at, 1, s.standIns[colon])
		s.plain()
	default:
		s.leaf()
	}
}

// open moves over an opening bracket.
func (s *scanner) open() {
	s.flow = append(s.flow, bracket{isMap: s.text[s.at] == '{', entry: -1})
	s.at++
	s.node, s.quoted = -1, false
}

// leaf moves over a scalar, or a property of a node.
func (s *scanner) leaf() {
	switch s.text[s.at] {
	case '"':
		s.doubleQuoted()
	case '\'':
		s.singleQuoted()
	case '&':
		s.property()
		s.name("anchor")
	case '*':
		s.name("alias")
		s.node = -1
	case '!':
		s.property()
		if s.at++; s.isBlank(s.at) {
			s.texts = append(s.texts, s.node)
		}
		for !s.isBlank(s.at) && (len(s.flow) == 0 || !s.isFlow(s.at)) {
			s.at++
		}
	default:
		s.plain()
	}
}

// property notes where the node of a property begins.
func (s *scanner) property() {
	if s.node < 0 {
		s.node = s.at
	}
}

// name moves over an anchor or alias.
func (s *scanner) name(kind string) {
	from := s.at
	for s.at++; !s.isBlank(s.at) && !s.isFlow(s.at); {
		s.at++
	}
	if s.text[s.at-1] == ':' { // the key ends here
		s.at--
	}
	written := s.text[from:s.at]
	if strings.Trim(written[1:], "-0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") != "" {
		s.failed, s.failedAt = &Error{
			Problem: "the name of an " + kind + " may contain only letters, digits, _ and -, got " + written,
			Hint:    "quote strings that begin with " + written[:1],
		}, from
	}
}

func (s *scanner) doubleQuoted() {
	s.node = -1
	for s.at++; s.at < len(s.text) && s.text[s.at] != '"'; {
		switch {
		case s.newLine():
		case s.text[s.at] != '\\':
			s.at++
		default:
			if s.is(s.at+1, '/') {
				s.replace(s.at, 1, s.standIns[backslash])
			}
			if s.at++; s.at < len(s.text) && !s.newLine() {
				s.at++
			}
		}
	}
	s.at = min(s.at+1, len(s.text))
	s.quoted = true
}

func (s *scanner) singleQuoted() {
	s.node = -1
	for s.at++; s.at < len(s.text); {
		switch {
		case s.newLine():
		case s.text[s.at] != '\'':
			s.at++
		case s.is(s.at+1, '\''):
			s.at += 2
		default:
			s.at++
			s.quoted = true
			return
		}
	}
}

// plain moves over a plain scalar, which may have several lines.
func (s *scanner) plain() {
	s.node = -1
	inFlow := len(s.flow) > 0
	for {
		for begin := s.at; !s.isBlank(s.at); s.at++ {
			switch c := s.text[s.at]; {
			case c == ':' && s.at > begin && (s.isBlank(s.at+1) || inFlow && s.isFlow(s.at+1)), c == ':' && s.at == begin && s.isBlank(s.at+1),
				inFlow && s.isFlow(s.at):
				return
			case c == '?' && inFlow:
				s.replace(s.at, 1, s.standIns[question])
			}
		}
		end, line, lineStart := s.at, s.line, s.lineStart
		for s.space() || s.newLine() {
		}
		if s.at == len(s.text) || s.text[s.at] == '#' || s.marker("---") || s.marker("...") || s.line > line && !inFlow && s.at-s.lineStart <= s.parent {
			s.at, s.line, s.lineStart = end, line, lineStart
			return
		}
	}
}

// blockScalar moves over a literal or folded scalar.
func (s *scanner) blockScalar() {
	s.node = -1
	indent, sign := 0, s.at+1
	for s.at++; !s.isBlank(s.at); s.at++ {
		if c := s.text[s.at]; c >= '1' && c <= '9' {
			indent = max(s.parent, 0) + int(c-'0')
		}
	}
	s.toLineEnd()
	for s.newLine() {
		spaces := indentOf(s.text[s.at:])
		next := s.at + spaces
		switch blank := next == len(s.text) || LineBreak(s.text[next:]) > 0; {
		case blank:
		case indent == 0:
			if indent = spaces; indent <= s.parent || indent == 0 {
				return
			}
			if by := indent - max(s.parent, 0); s.text[next] == '\t' && by <= 9 {
				s.replace(sign, 0, strconv.Itoa(by))
			}
		case spaces < indent:
			return
		}
		s.toLineEnd()
	}
}

// indentOf returns the number of spaces at the beginning of a text.
func indentOf(text string) int { return len(text) - len(strings.TrimLeft(text, " ")) }
