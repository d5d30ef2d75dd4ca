// Package yamledit changes nodes of a YAML text by their path and leaves every other byte as it
// was: comments, layout, quotes, anchors. Every edit is proven before it is returned: the new text
// is read again, and has to have the nodes of the old one with the edit made to them, in kind,
// tag, value, order and anchors. Otherwise the error is [ErrShape], and the caller sends its user
// to the text.
//
// Where nodes stand and how the text is changed there is known by runtime/textedit/yamltext,
// which edits of single values share (runtime/textedit).
package yamledit

import (
	"fmt"
	"strconv"

	"gopkg.in/yaml.v3"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/lazyregexp"
	"github.com/luaccm/ccm/runtime/textedit/splice"
	"github.com/luaccm/ccm/runtime/textedit/yamltext"
)

// Why edits are refused.
var (
	ErrShape  = diag.SubjectCannot("", "be edited without changing the text around it")
	ErrShared = diag.OfKind("the value", "an alias of a value elsewhere")
	ErrPath   = diag.NotFound("place", "", nil)
)

// A Path leads to a node: a string is a key, an int an item, from 0.
type Path []any

// A Splice replaces a range of bytes.
type Splice = splice.Splice

// A Doc is a text with one document. It is never changed.
type Doc struct {
	Text string

	nodes   *yamltext.Text
	aliases map[*yaml.Node]int // number of aliases of an anchor
}

// A Mistake is an error in a text.
type Mistake struct {
	Line int // from 1; 0 if unknown
	Err  error
}

// Error returns the error without its line.
func (m *Mistake) Error() string { return m.Err.Error() }

// Unwrap returns the error without its line.
func (m *Mistake) Unwrap() error { return m.Err }

// maxText is the most bytes of a text, and maxDepth the most levels of its nodes.
const (
	maxText  = 8 << 20
	maxDepth = 1000
)

// lineOf finds the line in a message of yaml.v3.
var lineOf = lazyregexp.New(`\bline (\d+)`)

// Parse reads a text of one document or none. The error is a *Mistake.
func Parse(text string) (*Doc, error) {
	if len(text) > maxText {
		return nil, &Mistake{Err: diag.With("the text", diag.MustBe("at most %d MiB", maxText>>20))}
	}
	root, err := yamltext.Parse(text)
	if err != nil {
		return nil, mistake(err)
	}
	if root == nil {
		root = yamltext.Empty()
	}
	if line := tooDeep(root, maxDepth); line > 0 {
		return nil, &Mistake{Line: line, Err: diag.Exceeds("nesting of nodes", "%d levels", maxDepth)}
	}
	d := &Doc{Text: text, nodes: yamltext.New(text, root), aliases: make(map[*yaml.Node]int)}
	yamltext.Each(root, func(n *yaml.Node) {
		if n.Kind == yaml.AliasNode {
			d.aliases[n.Alias]++
		}
	})
	return d, nil
}

func mistake(err error) *Mistake {
	m := &Mistake{Err: err}
	if found := lineOf().FindStringSubmatch(err.Error()); found != nil {
		m.Line, _ = strconv.Atoi(found[1])
	}
	return m
}

// tooDeep returns the line of a node that has more nodes around it than allowed, 0 if there is none.
func tooDeep(n *yaml.Node, allowed int) int {
	if allowed == 0 {
		return max(n.Line, 1)
	}
	for _, c := range n.Content {
		if line := tooDeep(c, allowed-1); line > 0 {
			return line
		}
	}
	return 0
}

// Root returns the node at the empty path. It must not be changed, as all nodes of a Doc.
func (d *Doc) Root() *yaml.Node { return d.nodes.Root.Content[0] }

// Span returns the range of a node; Value is the offset after its anchor and tag.
func (d *Doc) Span(n *yaml.Node) yamltext.Span { return d.nodes.Span(n) }

// Find returns the node at a path, and its key if it is in a map.
func (d *Doc) Find(path Path) (node, key *yaml.Node, err error) {
	steps, rest, err := reach(d.Root(), path)
	if err == nil && len(rest) > 0 {
		err = noPath(path)
	}
	if err != nil {
		return nil, nil, err
	}
	last := steps[len(steps)-1]
	return last.Node, last.Key, nil
}

func noPath(path Path) error { return fmt.Errorf("%w: %v", ErrPath, []any(path)) }

// reach follows a path from a node as far as there are nodes.
func reach(n *yaml.Node, path Path) (steps []yamltext.Step, rest Path, err error) {
	steps = []yamltext.Step{{Node: n}}
	for i, step := range path {
		if n.Kind == yaml.AliasNode {
			return nil, nil, ErrShared
		}
		at := child(n, step)
		if at == twice {
			return nil, nil, ErrShape
		}
		if at < 0 {
			return steps, path[i:], nil
		}
		next := yamltext.Step{Node: n.Content[at]}
		if n.Kind == yaml.MappingNode {
			next.Key = n.Content[at-1]
		}
		steps = append(steps, next)
		n = next.Node
	}
	return steps, nil, nil
}

// twice is the index of a key that a map has twice.
const twice = -2

// child returns the index of the child that a step of a path leads to, -1 if there is none.
func child(n *yaml.Node, step any) int {
	found := -1
	switch step := step.(type) {
	case int:
		if n.Kind == yaml.SequenceNode && step >= 0 && step < len(n.Content) {
			found = step
		}
	case string:
		for k := 0; n.Kind == yaml.MappingNode && k+1 < len(n.Content); k += 2 {
			if key := n.Content[k]; key.Kind != yaml.ScalarNode || key.Value != step {
				continue
			}
			if found >= 0 {
				return twice
			}
			found = k + 1
		}
	}
	return found
}

// Aliases counts the aliases of the anchors of a node and of its parents: the number of other
// places that an edit of the node changes too.
func (d *Doc) Aliases(path Path) int {
	steps, _, err := reach(d.Root(), path)
	if err != nil {
		return 0
	}
	count := 0
	for _, step := range steps {
		count += d.aliases[step.Node]
	}
	return count
}
