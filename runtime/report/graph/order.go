package graph

import (
	"math"
	"slices"
)

// sweeps is the number of times that the layers are ordered again, from the left and from the
// right in turn.
const sweeps = 24

// order orders the cells of each layer so that few lines cross. Each cell goes near the middle of
// its neighbors in the layer before or after (the barycentre heuristic). The best order of all
// sweeps is kept.
func (p *part) order() {
	best, fewest := copied(p.layers), math.MaxInt
	keys := make([]float64, len(p.cells))
	for sweep := range sweeps {
		for k := range p.layers {
			layer, before := p.layers[k], true
			if sweep%2 == 1 {
				layer, before = p.layers[len(p.layers)-1-k], false
			}
			p.orderLayer(layer, before, keys)
		}
		if n := p.crossings(); n < fewest {
			best, fewest = copied(p.layers), n
		}
		if fewest == 0 {
			break
		}
	}
	p.layers = best
}

// orderLayer sorts a layer by the middle of the neighbors in the layer before or after it. Keys
// is a buffer with one number for each cell.
func (p *part) orderLayer(layer []int, before bool, keys []float64) {
	for at, c := range layer {
		near := p.cells[c].after
		if before {
			near = p.cells[c].before
		}
		keys[c] = float64(at)
		if len(near) == 0 {
			continue
		}
		sum := 0.0
		for _, o := range near {
			sum += p.cells[o].rank
		}
		keys[c] = sum / float64(len(near))
	}
	slices.SortStableFunc(layer, func(a, b int) int {
		switch {
		case keys[a] < keys[b]:
			return -1
		case keys[a] > keys[b]:
			return 1
		}
		return 0
	})
	for at, c := range layer {
		p.cells[c].rank = float64(at)
	}
}

// crossings counts the crossings of lines between neighboring layers: the inversions among their
// ends, by a Fenwick tree (Barth, Mutzel and Jünger, Simple and Efficient Bilayer Cross Counting,
// 2004).
func (p *part) crossings() (n int) {
	var ends []int
	for k, layer := range p.layers[:len(p.layers)-1] {
		tree := make([]int, len(p.layers[k+1])+1)
		seen := 0
		for _, c := range layer {
			ends = ends[:0]
			for _, o := range p.cells[c].after {
				ends = append(ends, int(p.cells[o].rank))
			}
			for _, end := range ends {
				upTo := 0
				for i := end + 1; i > 0; i -= i & -i {
					upTo += tree[i]
				}
				n += seen - upTo
			}
			for _, end := range ends {
				for i := end + 1; i < len(tree); i += i & -i {
					tree[i]++
				}
				seen++
			}
		}
	}
	return n
}
