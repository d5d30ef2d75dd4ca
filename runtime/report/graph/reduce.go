package graph

// reductionLimit is the largest number of boxes whose implied edges are left out. Time and memory of
// the reduction grow with the square of that number, and nobody can look at more.
const reductionLimit = 8192

// transitiveReduction leaves out edges that longer ways imply, but for those with a refresh. For that
// it computes the set of boxes that each of n boxes reaches.
func transitiveReduction(n int, edges []Edge) []Edge {
	if n > reductionLimit {
		return edges
	}
	out := outgoing(n, edges)
	words := n/64 + 1
	bits := make([]uint64, n*words)
	reach := func(i int) []uint64 { return bits[i*words : (i+1)*words] }
	has := func(set []uint64, i int) bool { return set[i/64]>>(i%64)&1 == 1 }
	far := make([]uint64, words) // boxes that are two steps or more away
	order := topological(n, edges)
	keep := make(map[Edge]bool, len(edges))
	for k := len(order) - 1; k >= 0; k-- {
		clear(far)
		for _, e := range out[order[k]] {
			for w, set := range reach(e.To) {
				far[w] |= set
			}
		}
		own := reach(order[k])
		copy(own, far)
		for _, e := range out[order[k]] {
			own[e.To/64] |= 1 << (e.To % 64)
			if e.Refresh || !has(far, e.To) {
				keep[e] = true
			}
		}
	}
	var left []Edge
	for _, e := range edges {
		if keep[e] {
			left = append(left, e)
		}
	}
	return left
}

// outgoing returns the edges of each of n boxes to others.
func outgoing(n int, edges []Edge) [][]Edge {
	out := make([][]Edge, n)
	for _, e := range edges {
		out[e.From] = append(out[e.From], e)
	}
	return out
}

// topological returns n boxes in an order in which each comes after the boxes with edges to it.
func topological(n int, edges []Edge) []int {
	out, left := outgoing(n, edges), make([]int, n)
	for _, e := range edges {
		left[e.To]++
	}
	order := make([]int, 0, n)
	for i := range n {
		if left[i] == 0 {
			order = append(order, i)
		}
	}
	for k := 0; k < len(order); k++ {
		for _, e := range out[order[k]] {
			if left[e.To]--; left[e.To] == 0 {
				order = append(order, e.To)
			}
		}
	}
	return order
}
