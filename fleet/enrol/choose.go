package enrol

import (
	"slices"
	"strings"

	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/runtime/diag"
)

// Choose returns the nodes that are not revoked and match a text: a node's name, tag:NAME=VALUE, or
// env:NAME. Only data that operators have signed count, not data of the nodes. No match is an
// error.
func Choose(nodes []Node, text string) (list []Node, err error) {
	is := func(n Node) bool { return n.Name == text }
	none := diag.NotFound("node", text, nil).Error()
	kind, value, _ := strings.Cut(text, ":")
	switch {
	case kind == text:
	case kind == "tag":
		if err := identity.CheckTag(value); err != nil {
			return nil, err
		}
		is = func(n Node) bool { return slices.Contains(n.Tags, value) }
		none = "no node has the tag " + value
	case kind == "env":
		is = func(n Node) bool { return n.Environment == value }
		none = "no node is in the environment " + value
	default:
		return nil, diag.Expected("the name of a node, tag:NAME=VALUE or env:NAME").Got("%q", text)
	}
	for _, n := range nodes {
		if !n.Revoked && is(n) {
			list = append(list, n)
		}
	}
	if len(list) == 0 {
		return nil, &NoNodesError{Text: none}
	}
	return list, nil
}

// A NoNodesError reports that a text chooses no node.
type NoNodesError struct{ Text string }

// Error returns the text of the error.
func (e *NoNodesError) Error() string { return e.Text }
