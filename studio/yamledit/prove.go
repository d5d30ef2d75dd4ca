package yamledit

import (
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/luaccm/ccm/runtime/textedit/splice"
	"github.com/luaccm/ccm/runtime/textedit/yamltext"
)

// An expectation is the tree of nodes that a document must have after an edit. Only the nodes on the way to the
// edit are copied.
type expectation struct {
	root *yaml.Node
	// origin leads from copies to the nodes of the old document: its aliases point there.
	origin map[*yaml.Node]*yaml.Node
}

func (d *Doc) expectation() *expectation {
	return &expectation{root: d.Root(), origin: make(map[*yaml.Node]*yaml.Node)}
}

// copied returns a copy of a node with a list of children of its own.
func (w *expectation) copied(n *yaml.Node) *yaml.Node {
	c := *n
	c.Content = slices.Clone(n.Content)
	w.origin[&c] = w.first(n)
	return &c
}

// first returns the node of the old document that a node is a copy of.
func (w *expectation) first(n *yaml.Node) *yaml.Node {
	if o := w.origin[n]; o != nil {
		return o
	}
	return n
}

// at copies the nodes on a path that is there, and returns the last copy to be changed.
func (w *expectation) at(path Path) *yaml.Node {
	w.root = w.copied(w.root)
	n := w.root
	for _, step := range path {
		i := child(n, step)
		n.Content[i] = w.copied(n.Content[i])
		n = n.Content[i]
	}
	return n
}

// prove applies a splice, and returns the new document if it is the expected one.
func (d *Doc) prove(w *expectation, s Splice) (*Doc, Splice, error) {
	s.Text = splice.WithEndsOf(d.Text, s.Text)
	text, err := splice.Apply(d.Text, []Splice{s})
	if err != nil {
		return nil, Splice{}, ErrShape
	}
	out, err := Parse(text)
	if err != nil {
		return nil, Splice{}, ErrShape
	}
	c := comparer{expectation: w, anchors: make(map[*yaml.Node]*yaml.Node)}
	if !c.same(w.root, out.Root()) {
		return nil, Splice{}, ErrShape
	}
	return out, s, nil
}

// A comparer compares the meaning of two trees of nodes.
type comparer struct {
	*expectation
	anchors map[*yaml.Node]*yaml.Node // those of the old document, and what they are in the new one
}

// same compares expected nodes with read ones.
func (c *comparer) same(want, got *yaml.Node) bool {
	if want.Kind != got.Kind || want.Anchor != got.Anchor || len(want.Content) != len(got.Content) {
		return false
	}
	if want.Kind == yaml.AliasNode {
		// An anchor may be there twice: both aliases have to mean the same one.
		return want.Value == got.Value && (want.Alias == nil || c.anchors[c.first(want.Alias)] == got.Alias)
	}
	if want.Value != got.Value || want.ShortTag() != got.ShortTag() {
		return false
	}
	if want.Anchor != "" {
		c.anchors[c.first(want)] = got
	}
	for i := range want.Content {
		if !c.same(want.Content[i], got.Content[i]) {
			return false
		}
	}
	return true
}

// nodeOf returns the node of a value, which may be one already.
func nodeOf(value any) *yaml.Node {
	if n, ok := value.(*yaml.Node); ok {
		return deepCopy(n)
	}
	return yamltext.NodeOf(value)
}

func deepCopy(n *yaml.Node) *yaml.Node {
	c := *n
	c.Content = nil
	for _, k := range n.Content {
		c.Content = append(c.Content, deepCopy(k))
	}
	return &c
}
