package graph

import (
	"math"
	"slices"
)

// place places all boxes and lines. Unconnected parts are below each other, the largest first;
// boxes without lines follow in rows.
func (d *Drawing) place() {
	edges := make([]Edge, len(d.Lines))
	for i, l := range d.Lines {
		edges[i] = Edge{l.From, l.To, l.Refresh}
	}
	layers := layersOf(len(d.Boxes), edges)
	parts, single := components(len(d.Boxes), edges)
	lines := make(map[int][]int, len(parts)) // by part
	partOf := make([]int, len(d.Boxes))
	for k, part := range parts {
		for _, b := range part {
			partOf[b] = k
		}
	}
	for i, l := range d.Lines {
		lines[partOf[l.From]] = append(lines[partOf[l.From]], i)
	}
	y := margin
	for k, part := range parts {
		y = d.placePart(part, lines[k], layers, y) + 2*rowGap
	}
	if len(parts) > 0 && len(single) > 0 {
		y += rowGap
	}
	if len(single) > 0 {
		y = d.placeRows(single, y)
	}
	d.Width, d.Height = max(d.Width, 2*margin), max(y-2*rowGap+margin, 2*margin)
}

// placeRows places boxes side by side in rows from top on, and returns the top of what follows.
func (d *Drawing) placeRows(boxes []int, top float64) float64 {
	x, y, width := margin, top, max(d.Width, rowWidth)
	for _, i := range boxes {
		b := &d.Boxes[i]
		if x+b.W > width-margin && x > margin {
			x, y = margin, y+boxHeight+rowGap
		}
		b.X, b.Y = x, y
		x += b.W + rowGap
		d.Width = max(d.Width, x-rowGap+margin)
	}
	return y + boxHeight + 2*rowGap
}

// layersOf returns the layer of each box: the length of the longest path to it. A box with fewer
// predecessors than successors is moved further to the right.
func layersOf(n int, edges []Edge) []int {
	layer, order, out := make([]int, n), topological(n, edges), outgoing(n, edges)
	in := make([]int, n)
	for _, i := range order {
		for _, e := range out[i] {
			layer[e.To] = max(layer[e.To], layer[i]+1)
			in[e.To]++
		}
	}
	for range 4 {
		for _, i := range slices.Backward(order) {
			if len(out[i]) == 0 || len(out[i]) < in[i] {
				continue
			}
			right := math.MaxInt
			for _, e := range out[i] {
				right = min(right, layer[e.To]-1)
			}
			layer[i] = max(layer[i], right)
		}
	}
	return layer
}

// components returns the unconnected parts, the largest first, and the boxes without edges.
func components(n int, edges []Edge) (parts [][]int, single []int) {
	parent := make([]int, n)
	for i := range parent {
		parent[i] = i
	}
	root := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	connected := make([]bool, n)
	for _, e := range edges {
		connected[e.From], connected[e.To] = true, true
		parent[root(e.From)] = root(e.To)
	}
	at := make(map[int]int)
	for i := range n {
		if !connected[i] {
			single = append(single, i)
			continue
		}
		k, ok := at[root(i)]
		if !ok {
			k = len(parts)
			at[root(i)] = k
			parts = append(parts, nil)
		}
		parts[k] = append(parts[k], i)
	}
	slices.SortStableFunc(parts, func(a, b []int) int { return len(b) - len(a) })
	return parts, single
}
