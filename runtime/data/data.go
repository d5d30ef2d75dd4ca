// Package data is what the user configured: plain data (nil, bool, int64,
// float64, string, []any, map[string]any) that is read from YAML or JSON and
// resolved through a hierarchy.
//
// A hierarchy document holds base data, overrides, and the order in which the
// overrides are looked for:
//
//	hierarchy:
//	  order: ["os:${ lookup('facts.os.family') }", "host:${ Facts.host.name }"]
//	  merge: deep
//	data:
//	  # @require
//	  package: httpd
//	overrides:
//	  os:debian: {package: apache2}
//
// Numbers that are written in their usual form are numbers. What a number
// would not keep of its writing stays text: the version 1.10, the mode 0644, a
// date. So data arrives as it was written wherever it goes.
//
// Begin with [Parse] and [Resolve]. The package is also where YAML becomes
// [Node] values, which know their places; manifests are read through it.
package data

import (
	"github.com/luaccm/ccm/runtime/diag"
)

// A Document is one YAML or JSON document with its text.
type Document struct {
	Root *Node

	source *source
}

// Parse reads a file that holds one document. Duplicate keys, aliases that
// contain themselves, and aliases that make the document grow beyond all bounds
// are errors.
func Parse(file, text string) (*Document, error) { return newSource(file, text).parseOne() }

// ParseAll reads a file that holds several documents, separated by ---. A file
// without any holds one empty document.
func ParseAll(file, text string) ([]*Document, error) { return newSource(file, text).parseAll() }

// ParseUnder is ParseAll with a check that is called from time to time, whose error ends the
// parsing.
func ParseUnder(check func() error, file, text string) ([]*Document, error) {
	s := newSource(file, text)
	s.check = check
	return s.parseAll()
}

func (s *source) parseOne() (*Document, error) {
	docs, err := s.parseAll()
	if err != nil {
		return nil, err
	}
	if len(docs) > 1 {
		return nil, diag.At(docs[1].Root.Pos(), diag.Expected("one document").Found("a second one"))
	}
	return docs[0], nil
}

func (s *source) parseAll() ([]*Document, error) {
	root := s.readBlocks()
	if s.interruption() != nil {
		return nil, s.interruption()
	}
	if root != nil {
		return []*Document{{Root: root, source: s}}, nil
	}
	docs, err := s.parseWhole()
	if s.interruption() != nil {
		return nil, s.interruption()
	}
	return docs, err
}

// parseWhole parses the whole text.
func (s *source) parseWhole() ([]*Document, error) {
	s.annotations = nil
	raw, err := s.parse()
	if err != nil {
		return nil, err
	}
	var errs diag.List
	docs := make([]*Document, len(raw))
	for i, n := range raw {
		c := s.converter()
		docs[i] = &Document{Root: c.node(n), source: s}
		errs.Add(c.errs.Err())
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return docs, nil
}

// ParseGenerated parses text that a template wrote. Place returns the line of the template for a
// line of the text; it is used for all places in the text.
func ParseGenerated(file, text string, place func(line int) diag.Pos) (*Document, error) {
	src := newSource(file, text)
	src.place = place
	return src.parseOne()
}
