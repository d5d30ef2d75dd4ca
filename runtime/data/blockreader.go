package data

import (
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/luaccm/ccm/runtime/schema"
)

// A blockReader reads what most YAML is written in: mappings and lists in block style,
// with scalars that stand on one line or are literal (|), and with lists and tables in
// brackets on one line. The YAML library goes from character to character and from token to
// token: with it alone, a run that finds 1,000 files of a manifest unchanged takes 1.3 times the
// processor time (39.1 ms instead of 30.3 ms, 31 pairs of runs).
//
// Whatever a blockReader does not know, mistakes included, it leaves to the library, which
// then reads the whole text. So every error is one of the library, and FuzzBlocks can
// compare the two: what both read is the same, with its positions.
type blockReader struct {
	converter
	remaining        string   // the lines behind the current one
	line             string   // the current line, without its end
	number           int      // of the current line
	at               int      // the offset in line of the next token; -1 at the end of the text
	indent           int      // of the current line
	annotationsAbove []string // annotations above the current line
	lineAnnotations  []string // annotations on the line that was read last
	depth            int      // of collections
	begun            bool     // a line was read that is more than a comment
	unknown          bool     // the library has to read the text
	y                yaml.Node
}

const (
	maxBlockDepth = 100 // of collections
	maxBlockKey   = 500 // bytes; the library takes keys of up to 1,024 characters
)

// readBlocks returns the root of the only document of a text, or nil if the library has to read the
// text.
func (s *source) readBlocks() *Node {
	if s.hasYAMLBreaks() {
		return nil
	}
	r := &blockReader{converter: s.converter(), remaining: s.text}
	r.next()
	if r.at < 0 {
		return nil
	}
	root := r.block()
	if r.unknown || r.at >= 0 || len(r.errs) > 0 {
		return nil
	}
	return root
}

// giveUp leaves the text to the library. The returned node is not used.
func (r *blockReader) giveUp() *Node {
	r.unknown, r.remaining, r.line, r.at = true, "", "", -1
	return new(Node)
}

// next goes to the next line that has more than a comment, and collects the annotations
// above it.
func (r *blockReader) next() {
	column, clear := -1, r.begun // column and clearness of the comments: whether it is clear what they belong to
	r.annotationsAbove = nil
	for r.remaining != "" {
		r.line, r.remaining, _ = strings.Cut(r.remaining, "\n")
		r.number++
		r.at = indentOf(r.line)
		line := r.line[r.at:]
		switch {
		case line == "":
			clear = clear && column < 0
			continue
		case !printable(r.line) || r.overflown:
			r.giveUp()
			return
		case line[0] == '#':
			clear = clear && (column < 0 || column == r.at)
			column = r.at
			r.annotationsAbove = annotated(r.annotationsAbove, line)
			continue
		case r.line == "---" && !r.begun:
			r.begun = true
			continue
		case strings.HasPrefix(r.line, "---"), strings.HasPrefix(r.line, "..."),
			len(r.annotationsAbove) > 0 && (!clear || column != r.at || r.indent > r.at || r.isDash()):
			r.giveUp()
			return
		}
		r.indent, r.begun = r.at, true
		return
	}
	if r.at = -1; len(r.annotationsAbove) > 0 {
		r.giveUp()
	}
}

// indentOf returns the number of spaces at the beginning of a line.
func indentOf(line string) int {
	n := 0
	for n < len(line) && line[n] == ' ' {
		n++
	}
	return n
}

// annotated adds a comment to a list if it is an annotation.
func annotated(list []string, comment string) []string {
	if text := strings.TrimSpace(strings.TrimLeft(comment, "#")); strings.HasPrefix(text, "@") {
		list = append(list, text)
	}
	return list
}

// textTag is the tag of a value that is a text whatever its content.
const textTag = "!!str"

// node returns a node without children at an offset in the current line. Without a given tag, the
// tag follows from the text and its style.
func (r *blockReader) node(at int, style yaml.Style, tag, text string) *Node {
	r.y = yaml.Node{Kind: yaml.ScalarNode, Style: style, Tag: tag, Value: text, Line: r.number, Column: utf8.RuneCountInString(r.line[:at]) + 1}
	r.y.Tag = r.y.ShortTag()
	return r.converter.node(&r.y)
}

// collection returns an empty list or mapping that begins at an offset in the current line.
func (r *blockReader) collection(at int, kind schema.Kind) *Node {
	n := r.node(at, 0, textTag, "")
	n.Kind, n.children = kind, new(children)
	return n
}

// block reads the list or mapping that begins at the current place, and goes to the line
// behind it.
func (r *blockReader) block() (n *Node) {
	if r.depth++; r.depth > maxBlockDepth {
		return r.giveUp()
	}
	col := r.at
	if r.isDash() {
		n = r.collection(col, schema.List)
		for r.at == col && r.isDash() {
			r.item(n, r.value(col, col+1, false))
		}
	} else {
		n = r.collection(col, schema.Map)
		var seen map[string]*Node
		for r.at == col {
			text, style, end := r.key()
			if end == 0 {
				return r.giveUp()
			}
			key := r.node(col, style, textTag, text)
			notes, line := r.annotationsAbove, r.number
			val := r.value(col, end, true)
			r.annotate(key, line, append(notes, r.lineAnnotations...))
			r.lineAnnotations = nil
			seen = r.addEntry(n, seen, key, val)
		}
	}
	r.depth--
	if r.at > col { // a scalar of several lines, or a mistake
		return r.giveUp()
	}
	return n
}

// annotate records the annotations of a key on a line.
func (r *blockReader) annotate(key *Node, line int, notes []string) {
	var list []annotation
	for _, text := range notes {
		list = append(list, annotation{text, line})
	}
	if list != nil {
		r.src.annotate(key.line, key.col, list)
	}
}

// item adds an item to a list.
func (r *blockReader) item(n, item *Node) {
	n.Items = append(n.Items, item)
	r.grow(n, item, nil)
}

// addEntry adds an entry to a mapping. If the mapping has many keys, they are in seen.
func (r *blockReader) addEntry(n *Node, seen map[string]*Node, key, val *Node) map[string]*Node {
	key.Kind = schema.String
	switch len(n.Entries) {
	case 1: // most have one, or several
		n.Entries = slices.Grow(n.Entries, 7)
	case 8:
		seen = n.keys()
	}
	r.entry(n, seen, key, val, nil)
	return seen
}

// isDash reports whether the dash of a list item is at the current place.
func (r *blockReader) isDash() bool {
	rest := r.line[max(r.at, 0):]
	return rest == "-" || strings.HasPrefix(rest, "- ")
}

// key returns the key at the current place and the offset behind its colon, which is 0 if
// there is none.
func (r *blockReader) key() (text string, style yaml.Style, end int) {
	rest := r.line[r.at:]
	var size int
	if rest[0] == '"' || rest[0] == '\'' {
		text, style, size = quoted(rest)
	} else {
		if size = strings.Index(rest, ": "); size < 0 {
			size = len(rest) - 1
		}
		if text = rest[:size]; !isPlain(text) || text == "<<" {
			return "", 0, 0
		}
	}
	if size == 0 || size > maxBlockKey || rest[size:] != ":" && !strings.HasPrefix(rest[size:], ": ") {
		return "", 0, 0
	}
	return text, style, r.at + size + 1
}

// value reads the value at an offset of the current line, or on the lines behind it. Col is the
// column of the value's collection.
func (r *blockReader) value(col, from int, ofKey bool) *Node {
	if r.endsAt(from) && r.lineAnnotations == nil {
		number, line := r.number, r.line
		r.next()
		if r.at > col || ofKey && r.at == col && r.isDash() {
			return r.block()
		}
		n := r.node(0, 0, "", "")
		n.line, n.col = int32(number), int32(utf8.RuneCountInString(line[:from])+1)
		return n
	}
	if r.lineAnnotations != nil {
		return r.giveUp()
	}
	r.at = from + indentOf(r.line[from:])
	if !ofKey {
		if _, _, end := r.key(); end > 0 || r.isDash() {
			return r.block()
		}
	}
	if r.line[r.at] == '|' {
		return r.literal(col)
	}
	n, end := r.inline(r.at)
	if !r.endsAt(end) || r.lineAnnotations != nil && !ofKey {
		return r.giveUp()
	}
	r.next()
	return n
}

// endsAt reports whether only a comment follows an offset of the current line, and keeps the
// comment if it is an annotation.
func (r *blockReader) endsAt(at int) bool {
	rest := strings.TrimLeft(r.line[min(at, len(r.line)):], " ")
	switch {
	case rest == "":
		return true
	case rest[0] != '#' || r.line[len(r.line)-len(rest)-1] != ' ':
		return false
	}
	r.lineAnnotations = annotated(r.lineAnnotations, rest)
	return true
}

// inline reads the value at an offset of the current line, and returns its end.
func (r *blockReader) inline(at int) (n *Node, end int) {
	rest := r.line[at:]
	switch rest[0] {
	case '"', '\'':
		text, style, size := quoted(rest)
		if size == 0 {
			return r.giveUp(), 0
		}
		return r.node(at, style, "", text), at + size
	case '[', '{':
		return r.brackets(at)
	}
	text, _, _ := strings.Cut(rest, " #")
	if text = strings.TrimRight(text, " "); !isPlain(text) {
		return r.giveUp(), 0
	}
	return r.node(at, 0, "", text), at + len(text)
}

// brackets reads a list or table in brackets.
func (r *blockReader) brackets(at int) (n *Node, end int) {
	if r.depth++; r.depth > maxBlockDepth {
		return r.giveUp(), 0
	}
	kind, closing := schema.List, byte(']')
	if r.line[at] == '{' {
		kind, closing = schema.Map, '}'
	}
	n = r.collection(at, kind)
	var seen map[string]*Node
	skip := func() byte {
		at += indentOf(r.line[at:])
		if at == len(r.line) {
			return 0
		}
		return r.line[at]
	}
	at++
	if skip() == closing {
		r.depth--
		return n, at + 1
	}
	for !r.unknown {
		if kind == schema.List {
			r.item(n, r.bracketed(&at))
		} else {
			key := r.bracketed(&at)
			if r.unknown || key.children != &noChildren || key.Text == "<<" || !strings.HasPrefix(r.line[at:], ": ") {
				break
			}
			at++
			skip()
			seen = r.addEntry(n, seen, key, r.bracketed(&at))
		}
		switch {
		case r.unknown:
		case skip() == ',':
			at++
			skip()
		case skip() == closing:
			r.depth--
			return n, at + 1
		default:
			r.giveUp()
		}
	}
	return r.giveUp(), 0
}

// bracketed reads one value inside brackets, and moves at behind it.
func (r *blockReader) bracketed(at *int) (n *Node) {
	rest := r.line[*at:]
	switch {
	case r.unknown || rest == "":
		return r.giveUp()
	case strings.IndexByte("\"'[{", rest[0]) >= 0:
		n, *at = r.inline(*at)
		return n
	}
	text := until(rest, " ,[]{}:")
	if !isPlain(text) {
		return r.giveUp()
	}
	n = r.node(*at, 0, "", text)
	*at += len(text)
	return n
}

// literal reads the literal scalar whose | is at the current place.
func (r *blockReader) literal(col int) *Node {
	chomp := r.line[r.at:]
	indent := indentOf(r.remaining)
	first, _, _ := strings.Cut(r.remaining, "\n")
	if chomp != "|" && chomp != "|-" || indent <= col || indent == len(first) || first[indent] == '\t' {
		return r.giveUp()
	}
	n := r.node(r.at, yaml.LiteralStyle, "", "")
	var text strings.Builder
	for r.remaining != "" {
		line, after, complete := strings.Cut(r.remaining, "\n")
		have := indentOf(line)
		if have < indent && have < len(line) {
			break
		}
		if !complete || !printable(line) || have > indent && have == len(line) {
			return r.giveUp()
		}
		text.WriteString(line[min(indent, len(line)):])
		text.WriteByte('\n')
		r.remaining = after
		r.number++
	}
	n.Text = strings.TrimRight(text.String(), "\n")
	if chomp == "|" {
		n.Text = text.String()[:len(n.Text)+1]
	}
	r.next()
	return n
}
