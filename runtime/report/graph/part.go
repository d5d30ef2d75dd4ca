package graph

import (
	"math"
	"slices"
)

// A cell is a box, or the bend of a line in a layer.
type cell struct {
	box           int // -1 for a bend of a line
	layer         int // of the part, from 0
	height, y     float64
	before, after []int   // cells in the layers beside it
	rank          float64 // within its layer
}

// A part is connected boxes, with the cells of each layer in order.
type part struct {
	cells  []cell
	layers [][]int // cells, from top to bottom
}

func (p *part) add(c cell) int {
	c.rank = float64(len(p.layers[c.layer]))
	p.cells = append(p.cells, c)
	p.layers[c.layer] = append(p.layers[c.layer], len(p.cells)-1)
	return len(p.cells) - 1
}

// mostBends is the largest number of bends in a part. Beyond it long lines are straight, so that
// a long chain with many shortcuts does not take quadratic memory.
const mostBends = 100_000

// placePart places connected boxes and the lines between them from top on, and returns the
// bottom.
func (d *Drawing) placePart(boxes, lines, layer []int, top float64) float64 {
	first, last := math.MaxInt, 0
	for _, i := range boxes {
		first, last = min(first, layer[i]), max(last, layer[i])
	}
	p := &part{layers: make([][]int, last-first+1)}
	cellOf := make(map[int]int, len(boxes))
	for _, i := range boxes {
		cellOf[i] = p.add(cell{box: i, layer: layer[i] - first, height: d.Boxes[i].H})
	}
	ways := p.connect(d.Lines, lines, cellOf)
	p.order()
	p.assignHeights()
	return d.put(p, lines, cellOf, ways, top)
}

// connect connects the cells of lines, and returns the bends of each line. Lines to one box share
// their bends.
func (p *part) connect(all []Line, lines []int, cellOf map[int]int) [][]int {
	ways := make([][]int, len(lines))
	bends := make(map[[2]int]int) // by the box at the end of the line, and the layer
	joined := make(map[[2]int]bool)
	for k, l := range lines {
		a, to := cellOf[all[l].From], cellOf[all[l].To]
		for layer := p.cells[a].layer + 1; layer <= p.cells[to].layer; layer++ {
			b := to
			if layer < p.cells[to].layer {
				key := [2]int{to, layer}
				var shared bool
				if b, shared = bends[key]; !shared {
					if len(bends) == mostBends {
						continue
					}
					b = p.add(cell{box: -1, layer: layer, height: 2})
					bends[key] = b
				}
				ways[k] = append(ways[k], b)
			}
			if !joined[[2]int{a, b}] {
				joined[[2]int{a, b}] = true
				p.cells[a].after, p.cells[b].before = append(p.cells[a].after, b), append(p.cells[b].before, a)
			}
			a = b
		}
	}
	return ways
}

// put converts layers and heights into pixels.
func (d *Drawing) put(p *part, lines []int, cellOf map[int]int, ways [][]int, top float64) float64 {
	highest := math.Inf(1)
	for _, c := range p.cells {
		highest = min(highest, c.y-c.height/2)
	}
	left, right := d.columns(p)
	bottom := top
	for i := range p.cells {
		c := &p.cells[i]
		c.y += top - highest
		bottom = max(bottom, c.y+c.height/2)
		if c.box >= 0 {
			d.Boxes[c.box].X, d.Boxes[c.box].Y = left[c.layer], c.y-c.height/2
		}
	}
	for k, l := range lines {
		ln := &d.Lines[l]
		a, b := d.Boxes[ln.From], d.Boxes[ln.To]
		start := Point{a.X + a.W, a.Y + a.H/2}
		ln.Points = append(ln.Points, start)
		if end := right[p.cells[cellOf[ln.From]].layer]; end > start.X+1 {
			ln.Points = append(ln.Points, Point{end, start.Y})
		}
		for _, c := range ways[k] {
			bend := p.cells[c]
			ln.Points = append(ln.Points, Point{left[bend.layer], bend.y}, Point{right[bend.layer], bend.y})
		}
		ln.Points = append(ln.Points, Point{b.X, b.Y + b.H/2})
	}
	return bottom
}

// columns returns the left and right edge of each layer, and makes the drawing wide enough.
func (d *Drawing) columns(p *part) (left, right []float64) {
	x := margin
	for _, layer := range p.layers {
		width := 20.0
		for _, c := range layer {
			if b := p.cells[c].box; b >= 0 {
				width = max(width, d.Boxes[b].W)
			}
		}
		left, right = append(left, x), append(right, x+width)
		x += width + columnGap
	}
	d.Width = max(d.Width, x-columnGap+margin)
	return left, right
}

// copied returns a copy of the layers.
func copied(layers [][]int) [][]int {
	out := make([][]int, len(layers))
	for i, l := range layers {
		out[i] = slices.Clone(l)
	}
	return out
}
