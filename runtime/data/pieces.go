package data

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"gopkg.in/yaml.v3"

	"github.com/luaccm/ccm/runtime/schema"
)

// A piece is a text without what was cut out of it.
type piece struct {
	text string
	line int   // of the document, with which it begins
	cuts []cut // in the order of their lines, of which each has one at most
}

// A cut is what a short scalar stands for: another scalar, or the items of a part.
type cut struct {
	line, col int    // of the short scalar, in its piece
	less      int    // how many lines the piece has lost with this cut and with those before it
	style     style  // that the short scalar has
	short     string // its value
	value     string // of the scalar that was set aside
	part      *part
}

// A part is a run of list items that is read by itself.
type part struct {
	piece
	col   int     // where the dashes of its items stand, counted from 0
	items []*Node // nil if it could not be read
}

// before returns how many cuts there are in lines before the given one. Near is
// what it returned for the line that was asked for before.
func (p *piece) before(line, near int) int {
	for near > 0 && p.cuts[near-1].line >= line {
		near--
	}
	for near < len(p.cuts) && p.cuts[near].line < line {
		near++
	}
	return near
}

// origin returns which line of the document a line of the piece is, if n cuts are
// before it.
func (p *piece) origin(line, n int) int {
	line += p.line - 1
	if n > 0 {
		line += p.cuts[n-1].less
	}
	return line
}

// stands reports whether y is the short scalar of the cut.
func (c *cut) stands(y *yaml.Node) bool {
	return y.Line == c.line && y.Column == c.col && y.Kind == yaml.ScalarNode && y.Tag == "!!str" && y.Anchor == "" && styleOf(y) == c.style && y.Value == c.short
}

// converter returns what makes nodes of a piece of s.
func (s *source) converter(p *piece) converter {
	return converter{src: s, limit: min(1_000_000+20*len(s.text), math.MaxInt32-1), piece: p}
}

// pieced reads a long text without what can be cut out of it, and parts of it at
// the same time. It is not ok if that tells nothing, and then the text has to be
// read as it is.
func (s *source) pieced() (docs []*Document, ok bool) {
	workers, worth := runtime.GOMAXPROCS(0), usual
	if workers == 1 {
		worth.large = 0
	}
	if len(s.text) < longText {
		return nil, false
	}
	return s.cut(worth, workers)
}

// cut is pieced for a text of any length.
func (s *source) cut(worth limits, workers int) (docs []*Document, ok bool) {
	if s.breaks() {
		return nil, false
	}
	trunk := cutUp(s.text, worth)
	if trunk == nil {
		return nil, false
	}
	var parts []*part
	for _, c := range trunk.cuts {
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
		c.anchored = nil
		docs = append(docs, &Document{Root: c.node(y), source: s})
	}
	return docs, raw != nil && len(c.errs) == 0 && c.used == len(trunk.cuts)
}

// read makes nodes of the items of a part.
func (p *part) read(s *source) {
	raw := p.parse(s)
	if len(raw) != 1 || raw[0].Kind != yaml.SequenceNode || raw[0].Style&yaml.FlowStyle != 0 || raw[0].Line != 1 || raw[0].Column != p.col+1 {
		return
	}
	c := s.converter(&p.piece)
	n := c.node(raw[0])
	if n.Kind == schema.List && len(c.errs) == 0 && c.used == len(p.cuts) {
		p.items = n.Items
	}
}

// parse returns the documents of a piece, or nil.
func (p *piece) parse(s *source) (docs []*yaml.Node) {
	defer func() {
		if recover() != nil { // the library would say the same of the whole text
			docs = nil
		}
	}()
	docs, err := parseYAML(p.text, s.stopped)
	if err != nil || len(docs) == 0 {
		return nil
	}
	return docs
}
