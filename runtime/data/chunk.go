package data

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"gopkg.in/yaml.v3"

	"github.com/luaccm/ccm/runtime/schema"
)

// A chunk is a text with placeholders, or a part of one.
type chunk struct {
	text         string
	line         int           // the line of the document at which it begins
	placeholders []placeholder // in the order of lines; at most one in each
}

// A placeholder is a short scalar in the place of a long one, or of a run of list items.
type placeholder struct {
	line, col int // in its chunk
	removed   int // how many lines the chunk lacks because of it and of those before it
	style     style
	standIn   string // the short scalar
	value     string // the long scalar, if it stands for one
	part      *listPart
}

// A listPart is a run of list items that is parsed alone.
type listPart struct {
	chunk
	col   int     // the column of the dashes, from 0
	items []*Node // nil if it could not be parsed
}

// countBefore returns how many placeholders there are before a line. Near is a count
// to begin at, such as the result for a line close by.
func (p *chunk) countBefore(line, near int) int {
	for near > 0 && p.placeholders[near-1].line >= line {
		near--
	}
	for near < len(p.placeholders) && p.placeholders[near].line < line {
		near++
	}
	return near
}

// origin returns the line of the document for a line of the chunk that has n
// placeholders before it.
func (p *chunk) origin(line, n int) int {
	line += p.line - 1
	if n > 0 {
		line += p.placeholders[n-1].removed
	}
	return line
}

// matches reports whether y is the placeholder.
func (c *placeholder) matches(y *yaml.Node) bool {
	return y.Line == c.line && y.Column == c.col && y.Kind == yaml.ScalarNode && y.Tag == "!!str" && y.Anchor == "" && styleOf(y) == c.style && y.Value == c.standIn
}

// converter returns a converter for a chunk of s.
func (s *source) converter(p *chunk) converter {
	return converter{src: s, limit: min(1_000_000+20*len(s.text), math.MaxInt32-1), chunk: p}
}

// parsePrescanned parses a long text by way of a prescan, its list parts in parallel. If
// it is not ok, the whole text has to be parsed.
func (s *source) parsePrescanned() (docs []*Document, ok bool) {
	workers, worth := runtime.GOMAXPROCS(0), defaultLimits
	if workers == 1 {
		worth.large = 0
	}
	if len(s.text) < longText {
		return nil, false
	}
	return s.parsePrescannedWith(worth, workers)
}

// parsePrescannedWith is parsePrescanned for a text of any length.
func (s *source) parsePrescannedWith(worth prescanLimits, workers int) (docs []*Document, ok bool) {
	if s.hasYAMLBreaks() {
		return nil, false
	}
	trunk := prescanText(s.text, worth)
	if trunk == nil {
		return nil, false
	}
	var parts []*listPart
	for _, c := range trunk.placeholders {
		if c.part != nil {
			parts = append(parts, c.part)
		}
	}
	var next atomic.Int64
	readParts := func() {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(parts) {
				return
			}
			parts[i].read(s)
		}
	}
	var others sync.WaitGroup
	for range min(workers-1, len(parts)) {
		others.Go(readParts)
	}
	raw := trunk.parse(s)
	readParts()
	others.Wait()
	c := s.converter(trunk)
	for _, y := range raw {
		c.anchors = nil
		docs = append(docs, &Document{Root: c.node(y), source: s})
	}
	return docs, raw != nil && len(c.errs) == 0 && c.matched == len(trunk.placeholders)
}

// read parses the items of a part.
func (p *listPart) read(s *source) {
	raw := p.parse(s)
	if len(raw) != 1 || raw[0].Kind != yaml.SequenceNode || raw[0].Style&yaml.FlowStyle != 0 || raw[0].Line != 1 || raw[0].Column != p.col+1 {
		return
	}
	c := s.converter(&p.chunk)
	n := c.node(raw[0])
	if n.Kind == schema.List && len(c.errs) == 0 && c.matched == len(p.placeholders) {
		p.items = n.Items
	}
}

// parse returns the documents of a chunk, or nil.
func (p *chunk) parse(s *source) (docs []*yaml.Node) {
	defer func() {
		if recover() != nil { // parsing the whole text reports it
			docs = nil
		}
	}()
	docs, err := parseYAML(p.text, s.interruption)
	if err != nil || len(docs) == 0 {
		return nil
	}
	return docs
}
