package data

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/luaccm/ccm/runtime/schema"
)

// A block is lines that follow one another, each with one property and the same
// indentation. One property that is short stands in its place, or an empty text if
// it is all of a mapping.
type block struct {
	count    int // of the properties; 0 if there is no block
	indent   int
	from     int  // where it begins in the text
	last     int  // where its last line begins
	word     bool // the last value is not in quotes
	first    bool // of a mapping, as far as lines tell
	cutLines bool // blocks were cut out

	// The last line that is not blank and no comment.
	outer  int  // its indentation
	opened bool // a mapping may follow it
}

// property adds a line to the block, or begins one with it. It reports whether the
// line is a property. A block that has another indentation has ended.
func (s *scissors) property(line string, indent int) bool {
	_, _, style, ok := propertyIn(line[indent:])
	if !ok || style != plain && !printable(line) {
		return false
	}
	if s.count == 0 {
		s.indented(line, indent)
		s.indent, s.from, s.first = indent, s.at, s.opened && s.outer < indent
	}
	s.count++
	s.last, s.word = s.at, style == plain
	return true
}

// blockEnds cuts out the block of properties before the next line, if there is one.
func (s *scissors) blockEnds() {
	n, end, line := s.count, s.at, s.line
	if s.count = 0; n == 0 {
		return
	}
	s.outer, s.opened = s.indent, false
	next, comment := s.nextIndent()
	all := s.first && next < s.indent
	if s.word && !comment && next > s.indent { // the last value may go on there
		n, end, line = n-1, s.last, line-1
	}
	if n == 0 || n == 1 && end-s.from < s.scalar {
		return
	}
	s.cutLines = true
	s.copy(s.from)
	for range s.indent {
		s.out.WriteByte(' ')
	}
	c := cut{line: line - n - s.less, col: s.indent + 1, properties: s.text[s.from:end]}
	if all {
		s.out.WriteString(shortMapping)
		c.style = doubleQuoted
	} else {
		s.out.WriteString(shortProperty)
		c.short = "x"
	}
	s.done = end
	s.less += n - 1
	c.less = s.less
	s.cuts = append(s.cuts, c)
}

// What stands in the place of a block.
const (
	shortProperty = "x: \"\"\n"
	shortMapping  = "\"\"\n"
)

// nextIndent returns the indentation of the next line that is not blank and no
// comment, -1 if there is none, and whether a comment comes before it.
func (s *scissors) nextIndent() (indent int, comment bool) {
	for rest := s.text[s.at:]; rest != ""; {
		line, after, _ := strings.Cut(rest, "\n")
		switch n := indentOf(line); {
		case n == len(line):
		case line[n] == '#':
			comment = true
		default:
			return n, comment
		}
		rest = after
	}
	return -1, comment
}

// propertyIn returns the key and the value on a line without its indentation, if
// they are plain to see: a name, and one word or a text in quotes.
func propertyIn(line string) (key, value string, s style, ok bool) {
	n := 0
	for n < len(line) && isLetter(line[n]) {
		n++
	}
	if n == 0 || n+2 >= len(line) || n > 100 || line[n] != ':' || line[n+1] != ' ' {
		return "", "", 0, false
	}
	key, value = line[:n], line[n+2:]
	switch quote := value[0]; {
	case quote == '"' || quote == '\'':
		s = doubleQuoted
		if quote == '\'' {
			s = singleQuoted
		}
		if len(value) == 1 || value[len(value)-1] != quote {
			return "", "", 0, false
		}
		value, ok = unquoted(value[1:len(value)-1], quote)
		return key, value, s, ok
	case isLetter(quote) || quote >= '0' && quote <= '9' || quote == '/':
		for i := 1; i < len(value); i++ {
			if c := value[i]; !isLetter(c) && (c < '0' || c > '9') && c != '/' && c != '.' && c != '-' {
				return "", "", 0, false
			}
		}
		return key, value, plain, true
	}
	return "", "", 0, false
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }

// propertiesAt returns the lines in whose place an entry of a mapping stands, or "".
// If they are all of a mapping, it is the value of the entry in whose place they
// stand.
func (c *converter) propertiesAt(mapping, key, val *yaml.Node) (lines string, all bool) {
	if len(c.cuts) == 0 || mapping.Style&yaml.FlowStyle != 0 || val.Kind != yaml.ScalarNode || val.Style != yaml.DoubleQuotedStyle || val.Value != "" || val.Anchor != "" {
		return "", false
	}
	c.near = c.before(val.Line, c.near)
	if c.near == len(c.cuts) {
		return "", false
	}
	cut := &c.cuts[c.near]
	if cut.properties == "" || !(cut.stands(val) || cut.stands(key) && key.Line == val.Line) {
		return "", false
	}
	c.used++
	return cut.properties, cut.short == ""
}

// properties adds what is written in lines in the place of an entry of a mapping.
func (c *converter) properties(n *Node, seen map[string]*Node, lines string, y *yaml.Node) map[string]*Node {
	count := strings.Count(lines, "\n") + 1
	if seen == nil && len(n.Entries)+count > 16 {
		seen = make(map[string]*Node, len(n.Entries)+count)
		for _, e := range n.Entries {
			seen[e.Key.Text] = e.Key
		}
	}
	n.own()
	n.Entries = slices.Grow(n.Entries, count)
	at := yaml.Node{Kind: yaml.ScalarNode, Line: y.Line}
	for i := 0; lines != ""; i++ {
		line, after, _ := strings.Cut(lines, "\n")
		lines = after
		indent := indentOf(line)
		name, value, style, ok := propertyIn(line[indent:])
		if !ok {
			c.fail(n, "a property is none any more")
			return seen
		}
		key, val := c.new(y), c.new(y)
		key.line += int32(i)
		key.style = plain
		key.Kind, key.Text = schema.String, name
		val.line += int32(i)
		val.col, val.style = key.col+int32(len(name)+2), style
		at.Value, at.Tag = value, "!!str"
		if style == plain {
			at.Tag = ""
			at.Tag = at.ShortTag()
		}
		c.scalar(val, &at)
		c.entry(n, seen, key, val, y)
	}
	return seen
}
