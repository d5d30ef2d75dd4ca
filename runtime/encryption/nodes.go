package encryption

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
)

// Nodes are the nodes of a fleet in a file of recipients. They have a section of their own, which is rewritten as a
// whole:
//
//	# nodes of a fleet, by "ccm secret recipients nodes": what is changed here by hand is lost
//	db1  age1... # prod SHA256:EJTlVyf/8zcg...
//	db2  age1... # prod SHA256:D8VGue69hDFh...
//	@tag:role=db db1 db2
//	# end of the nodes
//
// A group of nodes is named by the expression that selects it. Nodes outside any group were selected by name.
type Nodes struct {
	Keys   []NodeKey
	Groups map[string][]string
}

// A NodeKey is the name of a node, its key as a recipient, and a comment with the fingerprint of the node.
type NodeKey struct{ Name, Text, Note string }

// The first and last line of the section.
const (
	nodesBegin = `# nodes of a fleet, by "ccm secret recipients nodes": changes made here by hand are lost`
	nodesEnd   = "# end of the nodes"
)

// SplitNodes returns the nodes in the text of a file of recipients, and the text before and behind their section.
func SplitNodes(file, text string) (n *Nodes, before, behind string, err error) {
	n = &Nodes{Groups: make(map[string][]string)}
	number, state := 0, &before
	inside := false
	for line := range strings.Lines(text) {
		number++
		words := strings.Fields(line)
		plain := strings.TrimSpace(line)
		switch {
		case plain == nodesBegin && state == &before && !inside:
			inside = true
		case plain == nodesEnd && inside:
			inside, state = false, &behind
		case plain == nodesBegin || plain == nodesEnd:
			return nil, "", "", diag.At(diag.Pos{File: file, Line: number}, diag.None("first or last line around the nodes of a fleet"))
		case !inside:
			*state += line
		case len(words) >= 2 && strings.HasPrefix(words[0], "@"):
			n.Groups[words[0]] = words[1:]
		case len(words) >= 2:
			_, note, _ := strings.Cut(plain, "# ")
			n.Keys = append(n.Keys, NodeKey{words[0], words[1], note})
		}
	}
	if inside {
		return nil, "", "", diag.At(diag.Pos{File: file}, diag.None("line %q after the nodes of a fleet", nodesEnd))
	}
	return n, before, behind, nil
}

// Named returns the nodes that are in no group.
func (n *Nodes) Named() []string {
	var names []string
	for _, k := range n.Keys {
		grouped := false
		for _, members := range n.Groups {
			grouped = grouped || slices.Contains(members, k.Name)
		}
		if !grouped {
			names = append(names, k.Name)
		}
	}
	return names
}

// Add adds a node, unless it is there already.
func (n *Nodes) Add(k NodeKey) {
	if !slices.ContainsFunc(n.Keys, func(o NodeKey) bool { return o.Name == k.Name }) {
		n.Keys = append(n.Keys, k)
	}
}

// Text returns the section with the nodes, "" if there are none.
func (n *Nodes) Text() string {
	if len(n.Keys) == 0 {
		return ""
	}
	keys := slices.Clone(n.Keys)
	slices.SortFunc(keys, func(a, b NodeKey) int { return strings.Compare(a.Name, b.Name) })
	width := 0
	for _, k := range keys {
		width = max(width, len(k.Name))
	}
	var b strings.Builder
	b.WriteString(nodesBegin + "\n")
	for _, k := range keys {
		fmt.Fprintf(&b, "%-*s  %s # %s\n", width, k.Name, k.Text, k.Note)
	}
	for _, g := range slices.Sorted(maps.Keys(n.Groups)) {
		fmt.Fprintf(&b, "%s %s\n", g, strings.Join(slices.Sorted(slices.Values(n.Groups[g])), " "))
	}
	b.WriteString(nodesEnd + "\n")
	return b.String()
}

// WithNodes returns the text of a file of recipients with its nodes replaced by n.
func WithNodes(file, text string, n *Nodes) (string, error) {
	_, before, behind, err := SplitNodes(file, text)
	if err != nil {
		return "", err
	}
	if before != "" && !strings.HasSuffix(before, "\n") {
		before += "\n"
	}
	return before + n.Text() + behind, nil
}

// isGroup reports whether a text can be the name of a group, without its @: a name, or an expression that selects
// nodes of a fleet (tag:role=db, env:prod).
func isGroup(s string) bool {
	if IsName(s) {
		return true
	}
	if env, ok := strings.CutPrefix(s, "env:"); ok {
		return IsName(env)
	}
	tag, ok := strings.CutPrefix(s, "tag:")
	name, value, two := strings.Cut(tag, "=")
	return ok && two && IsName(name) && IsName(value)
}
