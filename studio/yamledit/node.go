package yamledit

import (
	"math"
	"strconv"

	"gopkg.in/yaml.v3"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/textedit/yamltext"
)

// A Node is one node of a document, for reading.
type Node struct {
	doc *Doc
	n   *yaml.Node
	key *yaml.Node
}

// A Kind is the kind of a node.
type Kind int

// The kinds. An alias refers to another node.
const (
	Null Kind = iota
	Scalar
	List
	Map
	Alias
)

// At returns the node at a path. A path cannot lead through an alias.
func (d *Doc) At(path Path) (Node, error) {
	n, key, err := d.Find(path)
	return Node{d, n, key}, err
}

// Kind returns the kind of the node.
func (n Node) Kind() Kind {
	switch {
	case n.n.Kind == yaml.AliasNode:
		return Alias
	case n.n.Kind == yaml.MappingNode:
		return Map
	case n.n.Kind == yaml.SequenceNode:
		return List
	case isNull(n.n):
		return Null
	}
	return Scalar
}

// Key returns the key of the node, "" if it is not in a map.
func (n Node) Key() string {
	if n.key == nil {
		return ""
	}
	return n.key.Value
}

// IsMerge reports whether the node is merged into its map by <<.
func (n Node) IsMerge() bool { return n.key != nil && n.key.ShortTag() == "!!merge" }

// Target returns the node that an alias leads to, or the node itself.
func (n Node) Target() Node {
	if n.n.Kind == yaml.AliasNode && n.n.Alias != nil {
		return Node{n.doc, n.n.Alias, n.key}
	}
	return n
}

// Children returns the values in a map, or the items of a list.
func (n Node) Children() []Node {
	var out []Node
	switch n.n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.n.Content); i += 2 {
			out = append(out, Node{n.doc, n.n.Content[i+1], n.n.Content[i]})
		}
	case yaml.SequenceNode:
		for _, c := range n.n.Content {
			out = append(out, Node{n.doc, c, nil})
		}
	}
	return out
}

// Child returns the value of a key, false if it is not there.
func (n Node) Child(key string) (Node, bool) {
	for _, c := range n.Children() {
		if c.key != nil && c.key.Value == key {
			return c, true
		}
	}
	return Node{}, false
}

// Range returns the bytes of the node with its anchor and tag, and with its key if withKey is set.
func (n Node) Range(withKey bool) (from, to int) {
	s := n.doc.Span(n.n)
	if withKey && n.key != nil {
		return n.doc.Span(n.key).Start, max(s.End, n.doc.Span(n.key).End)
	}
	return s.Start, s.End
}

// Place returns the line and column of the node, or of its key if ofKey is set, both from 1; the column is in bytes.
func (n Node) Place(ofKey bool) (line, column int) {
	at := n.n
	if ofKey && n.key != nil {
		at = n.key
	}
	return max(at.Line, 1), n.doc.nodes.Column(n.doc.Span(at).Start) + 1
}

// Text returns the source text of the node.
func (n Node) Text() string {
	s := n.doc.Span(n.n)
	return n.doc.Text[s.Start:s.End]
}

// Value returns the value of the node: nil, bool, int64, float64, string, []any or map[string]any, with aliases
// replaced by their targets. A number in an unusual notation, such as the mode 0644 or the version 1.10, is returned
// as its text. It stops after a million nodes, because aliases of aliases may expand to more values than fit in
// memory.
func (n Node) Value() any {
	budget := 1_000_000
	return value(n.n, &budget)
}

func value(n *yaml.Node, budget *int) any {
	if *budget--; *budget < 0 {
		return nil
	}
	switch n.Kind {
	case yaml.AliasNode:
		return value(n.Alias, budget)
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for _, c := range n.Content {
			list = append(list, value(c, budget))
		}
		return list
	case yaml.MappingNode:
		m := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			m[n.Content[i].Value] = value(n.Content[i+1], budget)
		}
		return m
	}
	return scalar(n)
}

// scalar returns the value of a scalar.
func scalar(n *yaml.Node) any {
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil {
			return b
		}
	case "!!int":
		if i, err := strconv.ParseInt(n.Value, 10, 64); err == nil && strconv.FormatInt(i, 10) == n.Value {
			return i
		}
	case "!!float":
		f, err := strconv.ParseFloat(n.Value, 64)
		if err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) && strconv.FormatFloat(f, 'f', -1, 64) == n.Value {
			return f
		}
	}
	return n.Value
}

// Pairs is a map whose keys are written in their order.
type Pairs []Pair

// A Pair is a key with its value.
type Pair struct {
	Key   string
	Value any
}

// MarshalYAML implements yaml.Marshaler.
func (p Pairs) MarshalYAML() (any, error) {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, pair := range p {
		key, v := yamltext.NodeOf(pair.Key), yamltext.NodeOf(pair.Value)
		if key.Kind == 0 || v.Kind == 0 {
			return nil, diag.Not("", "a YAML value")
		}
		n.Content = append(n.Content, key, v)
	}
	return n, nil
}

// Unalias replaces an alias by a copy of its target.
func (d *Doc) Unalias(path Path) (*Doc, Splice, error) {
	n, _, err := d.Find(path)
	if err != nil {
		return nil, Splice{}, err
	}
	if n.Kind != yaml.AliasNode {
		return nil, Splice{}, ErrPath
	}
	budget := maxText / 100
	plain := withoutAnchors(n, &budget)
	if budget < 0 {
		return nil, Splice{}, ErrShape
	}
	return d.Set(path, plain)
}

// withoutAnchors returns a copy of a node in which aliases are replaced by their targets.
func withoutAnchors(n *yaml.Node, budget *int) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	c := *n
	c.Anchor, c.Content = "", nil
	c.HeadComment, c.LineComment, c.FootComment = "", "", ""
	if *budget--; *budget < 0 {
		return &c
	}
	for _, k := range n.Content {
		c.Content = append(c.Content, withoutAnchors(k, budget))
	}
	return &c
}
