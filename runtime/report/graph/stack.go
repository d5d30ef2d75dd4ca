package graph

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"
)

// boxes are the boxes of a drawing before they have places: their nodes, and the edges between them.
type boxes struct {
	members [][]int // of each box, in ascending order
	edges   []Edge  // between boxes, each pair once
}

// newBoxes stacks nodes of one type and class with the same neighbors, and leaves out implied edges.
// It stacks twice: before it leaves out edges, because that takes long with many boxes, and
// afterwards, because then more boxes have the same neighbors.
func newBoxes(nodes []Node, edges []Edge, stack int) boxes {
	b := boxes{edges: merged(edges)}
	for i := range nodes {
		b.members = append(b.members, []int{i})
	}
	if stack > 0 {
		b = b.stacked(nodes, stack)
	}
	b.edges = transitiveReduction(len(b.members), b.edges)
	if stack > 0 {
		b = b.stacked(nodes, stack)
	}
	return b
}

// stacked joins boxes with equal keys into one box, if that has stack members or more.
func (b boxes) stacked(nodes []Node, stack int) boxes {
	keys := b.keys(nodes)
	sizes := make(map[string]int)
	for i, key := range keys {
		sizes[key] += len(b.members[i])
	}
	var out boxes
	boxOf, first := make([]int, len(keys)), make(map[string]int)
	for i, key := range keys {
		at, ok := first[key]
		if !ok || sizes[key] < stack {
			at = len(out.members)
			first[key] = at
			out.members = append(out.members, nil)
		}
		boxOf[i] = at
		out.members[at] = append(out.members[at], b.members[i]...)
	}
	for _, m := range out.members {
		slices.Sort(m)
	}
	for _, e := range b.edges {
		out.edges = append(out.edges, Edge{boxOf[e.From], boxOf[e.To], e.Refresh})
	}
	out.edges = merged(out.edges)
	return out
}

// keys returns for each box its type, class and neighbors.
func (b boxes) keys(nodes []Node) []string {
	keys := make([][]byte, len(b.members))
	for i, members := range b.members {
		n := nodes[members[0]]
		keys[i] = append(keys[i], n.Type+"\x00"+n.Class+"\x00"...)
	}
	add := func(box int, direction byte, neighbor int, refresh bool) {
		if refresh {
			direction += 2
		}
		keys[box] = binary.AppendUvarint(append(keys[box], direction), uint64(neighbor))
	}
	for _, e := range b.edges { // they are sorted by From
		add(e.From, 0, e.To, e.Refresh)
	}
	for _, e := range b.edges {
		add(e.To, 1, e.From, e.Refresh)
	}
	out := make([]string, len(keys))
	for i, key := range keys {
		out[i] = string(key)
	}
	return out
}

// merged returns edges sorted by From and To, one for each pair. It is a refresh if one of the edges
// of the pair is.
func merged(edges []Edge) []Edge {
	out := slices.Clone(edges)
	slices.SortFunc(out, func(a, b Edge) int {
		switch {
		case a.From != b.From:
			return a.From - b.From
		case a.To != b.To:
			return a.To - b.To
		case a.Refresh == b.Refresh:
			return 0
		case a.Refresh:
			return -1
		}
		return 1
	})
	return slices.CompactFunc(out, func(a, b Edge) bool { return a.From == b.From && a.To == b.To })
}

// commonPrefix returns the longest common beginning of two texts, in whole characters.
func commonPrefix(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(a) && !utf8.RuneStart(a[n]) {
		n--
	}
	return a[:n]
}

// shorten returns a name on one line, without its middle if it is too long.
func shorten(s string) string {
	r := []rune(s)
	for i, c := range r {
		if c < ' ' || c == 0x7f {
			r[i] = ' '
		}
	}
	if len(r) > maxLabel {
		return string(r[:maxLabel/2-1]) + "…" + string(r[len(r)-maxLabel/2:])
	}
	return string(r)
}
