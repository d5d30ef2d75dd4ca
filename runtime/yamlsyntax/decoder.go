// Package yamlsyntax corrects what yaml.v3 reads and writes differently from YAML 1.2. The library reads YAML 1.1 with
// exceptions: some valid texts it refuses, and some it reads as other values without an error. Before the library sees
// a text, a [Decoder] replaces the few places that matter, without a change of line or column numbers, and restores
// them in the nodes.
package yamlsyntax

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// A Decoder reads the documents of a text.
type Decoder struct {
	lib  *yaml.Decoder
	text *scanner
	// Places of the library's text that need a correction in the nodes.
	texts    map[place]bool // nodes with the tag !
	inserted map[int][]int  // columns of inserted characters, by line
}

// A place is a line and a column in characters, both from 1.
type place struct{ line, column int }

// An Error is an error at a place that yaml.v3 does not report, or not with its place.
type Error struct {
	Line, Column  int // from 1, the column in characters
	Problem, Hint string
}

// Error implements error, in the form of an error of yaml.v3.
func (e *Error) Error() string {
	return fmt.Sprintf("yaml: line %d: %s (%s)", e.Line, e.Problem, e.Hint)
}

// NewDecoder returns a decoder for a text. It calls check from time to time, and fails with its error; check may be
// nil.
func NewDecoder(text string, check func() error) *Decoder {
	s := newScanner(text)
	if utf8.ValidString(text) {
		s.scan()
	}
	d := &Decoder{text: s}
	d.lib = yaml.NewDecoder(&interruptibleReader{strings.NewReader(s.edited()), check})
	at := s.places()
	if len(s.texts) > 0 {
		d.texts = make(map[place]bool, len(s.texts))
		for _, offset := range s.texts {
			d.texts[at[offset]] = true
		}
	}
	for _, e := range s.edits {
		if e.size == 0 && e.at < len(text) {
			if d.inserted == nil {
				d.inserted = make(map[int][]int)
			}
			p := at[e.at]
			d.inserted[p.line] = append(d.inserted[p.line], p.column)
		}
	}
	if s.failed != nil {
		s.failed.Line, s.failed.Column = at[s.failedAt].line, at[s.failedAt].column
	}
	return d
}

// An interruptibleReader reads a text until check returns an error.
type interruptibleReader struct {
	*strings.Reader
	check func() error
}

// Read implements io.Reader.
func (r *interruptibleReader) Read(p []byte) (int, error) {
	if r.check != nil {
		if err := r.check(); err != nil {
			return 0, err
		}
	}
	return r.Reader.Read(p)
}

// Decode returns the next document, a node of kind DocumentNode, and io.EOF behind the last one. Other errors are an
// [*Error], or one of yaml.v3.
func (d *Decoder) Decode() (*yaml.Node, error) {
	if d.text.failed != nil {
		return nil, d.text.failed
	}
	var doc yaml.Node
	if err := d.lib.Decode(&doc); err != nil {
		return nil, err
	}
	if len(d.text.edits) > 0 || d.texts != nil {
		d.restore(&doc)
	}
	return &doc, nil
}

// restore corrects a node and all nodes in it.
func (d *Decoder) restore(n *yaml.Node) {
	if columns := d.inserted[n.Line]; columns != nil {
		n.Column -= sort.Search(len(columns), func(i int) bool { return n.Column <= columns[i]+i })
	}
	if n.Kind == yaml.ScalarNode && n.Style == 0 && d.texts[place{n.Line, n.Column}] {
		n.Tag, n.Style = "!!str", yaml.TaggedStyle
	}
	back := "\\"
	if n.Style&yaml.DoubleQuotedStyle != 0 {
		back = ""
	}
	in := &d.text.standIns
	for _, s := range []*string{&n.Value, &n.Anchor, &n.Tag, &n.HeadComment, &n.LineComment, &n.FootComment} {
		if strings.IndexByte(*s, in[question][0]) >= 0 {
			*s = strings.NewReplacer(in[question], "?", in[colon], ":", in[backslash], back).Replace(*s)
		}
	}
	for _, c := range n.Content {
		d.restore(c)
	}
}

// An edit replaces size bytes of a text at an offset.
type edit struct {
	at, size int
	text     string
}

// edited returns the text for the library.
func (s *scanner) edited() string {
	if len(s.edits) == 0 {
		return s.text
	}
	// What is inserted at an offset comes before what is replaced there.
	slices.SortStableFunc(s.edits, func(a, b edit) int { return cmp.Or(a.at-b.at, a.size-b.size) })
	var b strings.Builder
	from := 0
	for _, e := range s.edits {
		b.WriteString(s.text[from:e.at])
		b.WriteString(e.text)
		from = e.at + e.size
	}
	b.WriteString(s.text[from:])
	return b.String()
}

// places returns the places of all offsets that matter.
func (s *scanner) places() map[int]place {
	offsets := slices.Clone(s.texts)
	for _, e := range s.edits {
		if e.size == 0 {
			offsets = append(offsets, e.at)
		}
	}
	if s.failed != nil {
		offsets = append(offsets, s.failedAt)
	}
	if len(offsets) == 0 {
		return nil
	}
	slices.Sort(offsets)
	places := make(map[int]place, len(offsets))
	p, at := place{1, 1}, len(s.text)-len(strings.TrimPrefix(s.text, "\ufeff"))
	for _, offset := range offsets {
		for at < offset {
			if n := LineBreak(s.text[at:]); n > 0 {
				p, at = place{p.line + 1, 1}, at+n
				continue
			}
			_, n := utf8.DecodeRuneInString(s.text[at:])
			p.column, at = p.column+1, at+n
		}
		places[offset] = p
	}
	return places
}

// LineBreak returns the length of the line end at the start of a text, 0 if there is none. YAML 1.1 has more line ends
// than \n.
func LineBreak(s string) int {
	if s == "" {
		return 0
	}
	switch s[0] {
	case '\n':
		return 1
	case '\r':
		if strings.HasPrefix(s, "\r\n") {
			return 2
		}
		return 1
	case 0xc2, 0xe2:
		for _, end := range []string{"\u0085", "\u2028", "\u2029"} {
			if strings.HasPrefix(s, end) {
				return len(end)
			}
		}
	}
	return 0
}
