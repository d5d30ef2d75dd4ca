package yamledit

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/luaccm/ccm/runtime/textedit/yamltext"
)

// Set changes the value at a path. Missing keys at the end of the path are added, each behind the
// last key of its map.
func (d *Doc) Set(path Path, value any) (*Doc, Splice, error) {
	steps, rest, err := reach(d.Root(), path)
	if err != nil {
		return nil, Splice{}, err
	}
	for _, step := range rest {
		if _, isKey := step.(string); !isKey {
			return nil, Splice{}, noPath(path)
		}
	}
	for i := len(rest) - 1; i > 0; i-- {
		value = mapOf(rest[i].(string), nodeOf(value))
	}
	if len(rest) > 0 {
		return d.addKey(path[:len(path)-len(rest)], steps, rest[0].(string), nodeOf(value))
	}
	v := nodeOf(value)
	if !isValue(v) {
		return nil, Splice{}, ErrShape
	}
	w := d.expectation()
	n := w.at(path)
	origin := w.first(n)
	anchor := n.Anchor
	*n = *deepCopy(v)
	n.Anchor = anchor
	w.origin[n] = origin
	return d.prove(w, d.nodes.Replace(steps, v))
}

// mapOf returns a map with one key.
func mapOf(key string, value *yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{yamltext.NodeOf(key), value}}
}

// isValue reports whether a node is one that a text can have: see yamltext.NodeOf.
func isValue(n *yaml.Node) bool {
	ok := true
	yamltext.Each(n, func(n *yaml.Node) { ok = ok && n.Kind != 0 })
	return ok
}

func listOf(value *yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: []*yaml.Node{value}}
}

// addKey adds a key behind the last one of the map at a path; a null becomes a map.
func (d *Doc) addKey(path Path, steps []yamltext.Step, name string, v *yaml.Node) (*Doc, Splice, error) {
	parent := steps[len(steps)-1].Node
	switch {
	case parent.Kind == yaml.AliasNode:
		return nil, Splice{}, ErrShared
	case parent.Kind != yaml.MappingNode && !isNull(parent):
		return nil, Splice{}, noPath(append(slices.Clip(path), name))
	}
	pair := mapOf(name, v)
	if !isValue(pair) {
		return nil, Splice{}, ErrShape
	}
	w := d.expectation()
	n := w.at(path)
	becomes(n, yaml.MappingNode, "!!map")
	n.Content = append(n.Content, deepCopy(pair).Content...)
	if len(parent.Content) == 0 { // null or {}: a block begins here
		return d.prove(w, d.nodes.Replace(steps, pair))
	}
	return d.prove(w, d.nodes.Add(steps, len(parent.Content), pair))
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// becomes makes a null a map or a list without children. Others are of that kind already.
func becomes(n *yaml.Node, kind yaml.Kind, tag string) {
	if n.Kind == yaml.ScalarNode {
		n.Kind, n.Tag, n.Value, n.Style = kind, tag, "", 0
	}
}

// list returns the steps to a list at a path. A null counts as an empty list.
func (d *Doc) list(path Path) ([]yamltext.Step, error) {
	steps, rest, err := reach(d.Root(), path)
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		return nil, noPath(path)
	}
	switch n := steps[len(steps)-1].Node; {
	case n.Kind == yaml.AliasNode:
		return nil, ErrShared
	case n.Kind != yaml.SequenceNode && !isNull(n):
		return nil, noPath(path)
	}
	return steps, nil
}

// Insert inserts a value before item i of the list at a path, or behind the last if i is the number
// of items. A null becomes a list.
func (d *Doc) Insert(list Path, i int, value any) (*Doc, Splice, error) {
	steps, err := d.list(list)
	if err != nil {
		return nil, Splice{}, err
	}
	n := steps[len(steps)-1].Node
	if i < 0 || i > len(n.Content) {
		return nil, Splice{}, noPath(append(slices.Clip(list), i))
	}
	item := listOf(nodeOf(value))
	if !isValue(item) {
		return nil, Splice{}, ErrShape
	}
	w := d.expectation()
	want := w.at(list)
	becomes(want, yaml.SequenceNode, "!!seq")
	want.Content = slices.Insert(want.Content, i, deepCopy(item).Content...)
	if len(n.Content) == 0 {
		return d.prove(w, d.nodes.Replace(steps, item))
	}
	return d.prove(w, d.nodes.Add(steps, i, item))
}

// Remove removes the key or item at a path, with the comments right above it. Removing the last one
// leaves {} or [].
func (d *Doc) Remove(path Path) (*Doc, Splice, error) {
	if len(path) == 0 {
		return nil, Splice{}, noPath(path)
	}
	steps, rest, err := reach(d.Root(), path)
	if err != nil {
		return nil, Splice{}, err
	}
	if len(rest) > 0 {
		return nil, Splice{}, noPath(path)
	}
	parent, i, per := steps[len(steps)-2].Node, child(steps[len(steps)-2].Node, path[len(path)-1]), 1
	if steps[len(steps)-1].Key != nil {
		i, per = i-1, 2
	}
	w := d.expectation()
	n := w.at(path[:len(path)-1])
	n.Content = slices.Delete(n.Content, i, i+per)
	if len(parent.Content) == per {
		bare := &yaml.Node{Kind: parent.Kind, Tag: parent.Tag, Style: yaml.FlowStyle}
		return d.prove(w, d.nodes.Replace(steps[:len(steps)-1], bare))
	}
	return d.prove(w, d.nodes.Cut(steps[:len(steps)-1], i, per, true))
}

// Rename changes the key at the end of a path.
func (d *Doc) Rename(path Path, name string) (*Doc, Splice, error) {
	_, key, err := d.Find(path)
	if err != nil {
		return nil, Splice{}, err
	}
	if key == nil {
		return nil, Splice{}, noPath(path)
	}
	w := d.expectation()
	n := w.at(path[:len(path)-1])
	i := child(n, path[len(path)-1]) - 1
	if name != key.Value && child(n, name) != -1 {
		return nil, Splice{}, ErrShape // the map would have the key twice
	}
	renamed := yamltext.NodeOf(name)
	if renamed.Kind == 0 {
		return nil, Splice{}, ErrShape
	}
	k := *n.Content[i]
	k.Value, k.Tag = renamed.Value, renamed.Tag
	w.origin[&k] = n.Content[i]
	n.Content[i] = &k
	renamed.Style = key.Style & (yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle)
	s := d.Span(key)
	return d.prove(w, Splice{From: s.Value, To: s.End, Text: yamltext.Written(renamed, true, 2)})
}

// Move moves an item of a list, with its comments, byte for byte. to is its index afterwards.
func (d *Doc) Move(list Path, from, to int) (*Doc, Splice, error) {
	steps, err := d.list(list)
	if err != nil {
		return nil, Splice{}, err
	}
	n := steps[len(steps)-1].Node
	if min(from, to) < 0 || max(from, to) >= len(n.Content) {
		return nil, Splice{}, noPath(append(slices.Clip(list), max(from, to)))
	}
	w := d.expectation()
	want := w.at(list)
	moved := want.Content[from]
	want.Content = slices.Insert(slices.Delete(want.Content, from, from+1), to, moved)
	if yamltext.InFlow(steps) {
		return d.prove(w, d.moveInBrackets(n, from, to))
	}
	s, ok := d.moveLines(n, from, to)
	if !ok {
		return nil, Splice{}, ErrShape
	}
	return d.prove(w, s)
}

// moveLines returns the splice that exchanges the lines of an item with those of the items between.
func (d *Doc) moveLines(n *yaml.Node, from, to int) (Splice, bool) {
	a1, a2, first := d.nodes.Lines(n, min(from, to), 1)
	b1, b2, last := d.nodes.Lines(n, max(from, to), 1)
	if !first || !last || a1 > a2 || b1 > b2 || from != to && a2 > b1 {
		return Splice{}, false
	}
	middle := a2
	if from > to {
		middle = b1
	}
	x, y := d.Text[a1:middle], d.Text[middle:b2]
	if !strings.HasSuffix(y, "\n") && y != "" { // the text has no line end at its end
		x, y = strings.TrimSuffix(x, "\n"), y+"\n"
	}
	return Splice{From: a1, To: b2, Text: y + x}, true
}

// moveInBrackets returns the splice that reorders items; the text between them stays.
func (d *Doc) moveInBrackets(n *yaml.Node, from, to int) Splice {
	order := make([]int, len(n.Content))
	for i := range order {
		order[i] = i
	}
	order = slices.Insert(slices.Delete(order, from, from+1), to, from)
	lo, hi := min(from, to), max(from, to)
	var b strings.Builder
	for i := lo; i <= hi; i++ {
		s := d.Span(n.Content[order[i]])
		b.WriteString(d.Text[s.Start:s.End])
		if i < hi {
			end, next := d.Span(n.Content[i]).End, d.Span(n.Content[i+1]).Start
			if end > next {
				return Splice{From: 1} // no valid splice, so it is refused
			}
			b.WriteString(d.Text[end:next])
		}
	}
	return Splice{From: d.Span(n.Content[lo]).Start, To: d.Span(n.Content[hi]).End, Text: b.String()}
}
