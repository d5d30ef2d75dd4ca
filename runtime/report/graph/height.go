package graph

// heightPasses is the number of passes over all layers in which heights are adjusted to those of
// neighbors.
const heightPasses = 40

// assignHeights gives each cell a height near the middle of its neighbors, so that lines are
// straight. The order in a layer stays, and no cell covers another.
func (p *part) assignHeights() {
	for _, layer := range p.layers {
		y := 0.0
		for _, c := range layer {
			p.cells[c].y = y + p.cells[c].height/2
			y += p.cells[c].height + rowGap
		}
	}
	for sweep := range heightPasses {
		for k := range p.layers {
			if sweep%2 == 1 {
				k = len(p.layers) - 1 - k
			}
			p.assignLayerHeights(p.layers[k])
		}
	}
}

// A run is neighboring cells of a layer with the least distance between them.
type run struct {
	want   float64 // height of the layer's first cell that suits the run
	weight float64
	from   int // index of its first cell in the layer
}

// assignLayerHeights places the cells of a layer as near as possible to the heights that their
// neighbors want. It is isotonic regression by the pool adjacent violators algorithm (Ayer and
// others, An Empirical Distribution Function for Sampling with Incomplete Information, 1955).
func (p *part) assignLayerHeights(layer []int) {
	var runs []run
	offset := make([]float64, len(layer)) // of each cell from the first, with the least distances
	for i, c := range layer {
		if i > 0 {
			offset[i] = offset[i-1] + p.cells[layer[i-1]].height/2 + rowGap + p.cells[c].height/2
		}
		want, weight := p.weightedMean(c)
		r := run{want - offset[i], weight, i}
		for len(runs) > 0 && runs[len(runs)-1].want > r.want {
			above := runs[len(runs)-1]
			runs = runs[:len(runs)-1]
			r = run{(above.want*above.weight + r.want*r.weight) / (above.weight + r.weight), above.weight + r.weight, above.from}
		}
		runs = append(runs, r)
	}
	for k, r := range runs {
		end := len(layer)
		if k+1 < len(runs) {
			end = runs[k+1].from
		}
		for i := r.from; i < end; i++ {
			p.cells[layer[i]].y = r.want + offset[i]
		}
	}
}

// weightedMean returns the mean height of the neighbors of a cell, and its weight. The bends of long
// lines weigh most, so that these lines are straight.
func (p *part) weightedMean(c int) (y, weight float64) {
	own := &p.cells[c]
	for _, near := range [][]int{own.before, own.after} {
		for _, o := range near {
			w := 1.0
			switch other := p.cells[o].box < 0; {
			case own.box < 0 && other:
				w = 8
			case own.box < 0 || other:
				w = 2
			}
			y, weight = y+w*p.cells[o].y, weight+w
		}
	}
	if weight == 0 {
		return own.y, 1
	}
	return y / weight, weight
}
