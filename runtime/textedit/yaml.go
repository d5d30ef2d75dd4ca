package textedit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/textedit/yamltext"
	"github.com/luaccm/ccm/runtime/yamlsyntax"
)

func decodeYAML(text string) (*document, error) {
	root, err := yamltext.Parse(text)
	if err != nil || root == nil {
		return &document{text: text}, err
	}
	if isPlainYAML(root) {
		if value, err := plainNode(root.Content[0]); err == nil {
			return &document{text: text, value: value, yaml: root}, nil
		}
	}
	if err := root.Decode(new(any)); err != nil { // aliases of aliases may stand for more values than fit in memory
		return nil, diag.Not("", "valid YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	value, err := plainNode(root.Content[0])
	return &document{text: text, value: value, yaml: root}, err
}

// isPlainYAML reports whether a node has neither aliases nor merges nor tags, so that plainNode finds every mistake in
// it. The time of the decoder of yaml.v3 grows with the square of the keys of a map: a run that adds 1,000 settings to one
// file takes 0.7 of the time without it.
func isPlainYAML(n *yaml.Node) bool {
	return n.Kind != yaml.AliasNode && n.Anchor == "" && n.Style&yaml.TaggedStyle == 0 && n.Tag != "!!merge" &&
		!slices.ContainsFunc(n.Content, func(c *yaml.Node) bool { return !isPlainYAML(c) })
}

// An alias is a value of YAML that refers to another node. A merge is an alias under the key <<.
type alias struct {
	name  string
	value any
}

// A word is a string of YAML without quotes that other readers take for another value, such as no or 22:22. It does not
// equal the string with quotes.
type word string

// plainNode returns the value of a node.
func plainNode(n *yaml.Node) (any, error) {
	switch n.Kind {
	case yaml.AliasNode:
		v, err := plainNode(n.Alias)
		return alias{n.Value, v}, err
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, c := range n.Content {
			var err error
			if list[i], err = plainNode(c); err != nil {
				return nil, err
			}
		}
		return list, nil
	case yaml.MappingNode:
		m := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			if key.Kind != yaml.ScalarNode {
				return nil, fmt.Errorf("line %d: %w", key.Line, diag.Expected("a scalar as the key of a map"))
			}
			if _, twice := m[key.Value]; twice {
				return nil, fmt.Errorf("line %d: %w", key.Line, diag.Duplicate("%s", key.Value))
			}
			v, err := plainNode(n.Content[i+1])
			if err != nil {
				return nil, err
			}
			m[key.Value] = v
		}
		return m, nil
	}
	if n.ShortTag() == "!!timestamp" {
		return n.Value, nil // a date is a string
	}
	var v any
	if err := n.Decode(&v); err != nil {
		return nil, diag.Not("", "valid YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if s, ok := v.(string); ok && n.Style == 0 && yamlsyntax.ReadsAsOther(s) {
		return word(s), nil
	}
	return plain(v), nil
}

func setYAML(doc *document, path Path, value any) ([]splice, error) {
	d := newYAML(doc)
	steps, rest, err := d.reach(path)
	if err != nil {
		return nil, err
	}
	last := steps[len(steps)-1].Node
	if len(rest) == 0 {
		return []splice{d.Replace(steps, yamltext.NodeOf(value))}, nil
	}
	v := yamltext.NodeOf(nested(rest[1:], value))
	extra := &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{v}}
	if last.Kind != yaml.SequenceNode {
		extra = &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{yamltext.NodeOf(rest[0]), v}}
	}
	if len(last.Content) == 0 { // null, {} or []: it becomes a block
		return []splice{d.Replace(steps, extra)}, nil
	}
	return []splice{d.Add(steps, len(last.Content), extra)}, nil
}

func removeYAML(doc *document, path Path) ([]splice, error) {
	d := newYAML(doc)
	steps, rest, err := d.reach(path)
	if err != nil || len(rest) > 0 {
		return nil, errors.Join(err, errPlace)
	}
	last, parent := steps[len(steps)-1], steps[len(steps)-2].Node
	first, per := last.Node, 1
	if last.Key != nil {
		first, per = last.Key, 2
	}
	if len(parent.Content) == per {
		return []splice{d.Replace(steps[:len(steps)-1], &yaml.Node{Kind: parent.Kind, Style: yaml.FlowStyle})}, nil
	}
	// Comments above the removed part stay.
	return []splice{d.Cut(steps[:len(steps)-1], slices.Index(parent.Content, first), per, false)}, nil
}

// A yamlDocument is a YAML text with its nodes.
type yamlDocument struct{ *yamltext.Text }

// newYAML finds the nodes of a document. A text without a document gets a null that is not written.
func newYAML(doc *document) yamlDocument {
	root := doc.yaml
	if root == nil {
		root = yamltext.Empty()
	}
	return yamlDocument{yamltext.New(doc.text, root)}
}

// reach follows a path as far as it exists. It returns the nodes on the way, beginning with the root, and the rest of
// the path.
func (d yamlDocument) reach(path Path) (steps []yamltext.Step, rest Path, err error) {
	n := d.Root.Content[0]
	steps = []yamltext.Step{{Node: n}}
	for i, step := range path {
		next, key := -1, (*yaml.Node)(nil)
		switch n.Kind {
		case yaml.AliasNode:
			return nil, nil, diag.OfKind(at(path, i), "an alias: change the anchored value")
		case yaml.SequenceNode:
			if p, ok := position(step, len(n.Content)); ok && p < len(n.Content) {
				next = p
			}
		case yaml.MappingNode:
			for k := 0; k < len(n.Content); k += 2 {
				if n.Content[k].Kind == yaml.ScalarNode && n.Content[k].Value == step {
					next, key = k+1, n.Content[k]
				}
			}
		}
		if next < 0 {
			return steps, path[i:], nil
		}
		n = n.Content[next]
		steps = append(steps, yamltext.Step{Node: n, Key: key})
	}
	return steps, nil, nil
}
