package catalog

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// order returns the stable topological order of list: of all resources that may come next, it
// takes the one declared first (Kahn's algorithm with a heap).
func order(list []*resource.Resource, edges []edge) (*Catalog, error) {
	n := len(list)
	if len(edges) == 0 {
		return &Catalog{Resources: slices.Clone(list), Deps: make([][]Dep, n)}, nil
	}
	waits, after := make([]int, n), make([][]int, n)
	for k, e := range edges {
		waits[e.to]++
		after[e.from] = append(after[e.from], k)
	}
	var free []int // resources that wait for nothing, ascending
	for i := range n {
		if waits[i] == 0 {
			free = append(free, i)
		}
	}
	var ready intHeap       // resources that have waited and are free now
	place := make([]int, n) // index in the order, by number of declaration
	c := &Catalog{Resources: make([]*resource.Resource, 0, n)}
	for len(free)+len(ready) > 0 {
		var i int
		if len(ready) == 0 || len(free) > 0 && free[0] < ready[0] {
			i, free = free[0], free[1:]
		} else {
			i = heap.Pop(&ready).(int)
		}
		place[i] = len(c.Resources)
		c.Resources = append(c.Resources, list[i])
		for _, k := range after[i] {
			to := edges[k].to
			if waits[to]--; waits[to] == 0 {
				heap.Push(&ready, to)
			}
		}
	}
	if len(c.Resources) < n {
		return nil, cycle(list, edges, waits)
	}
	c.Deps = make([][]Dep, n)
	for _, e := range edges {
		at := place[e.to]
		c.Deps[at] = append(c.Deps[at], Dep{place[e.from], e.refresh})
	}
	for i, deps := range c.Deps {
		c.Deps[i] = merge(deps)
	}
	return c, nil
}

// merge sorts deps and merges those on the same resource.
func merge(deps []Dep) []Dep {
	slices.SortFunc(deps, func(a, b Dep) int { return cmp.Compare(a.Index, b.Index) })
	out := deps[:0]
	for _, d := range deps {
		if k := len(out) - 1; k >= 0 && out[k].Index == d.Index {
			out[k].Refresh = out[k].Refresh || d.Refresh
			continue
		}
		out = append(out, d)
	}
	return out
}

// cycle returns the error for one loop among the waiting resources, with the place of every edge.
func cycle(list []*resource.Resource, edges []edge, waits []int) error {
	// Every waiting resource has a waiting predecessor. So a walk backwards from the first one
	// ends in a loop.
	into := make(map[int]edge)
	for _, e := range edges {
		if waits[e.from] > 0 && waits[e.to] > 0 {
			if _, ok := into[e.to]; !ok {
				into[e.to] = e
			}
		}
	}
	at := slices.IndexFunc(waits, func(w int) bool { return w > 0 })
	seen := make(map[int]bool)
	for !seen[at] {
		seen[at] = true
		at = into[at].from
	}
	// Seen backwards from at, the loop is closed when at comes again.
	var loop []edge
	for {
		e := into[at]
		loop = append(loop, e)
		at = e.from
		if at == loop[0].to {
			break
		}
	}
	slices.Reverse(loop)
	// The message begins with the resource that was declared first.
	first := 0
	for i, e := range loop {
		if e.from < loop[first].from {
			first = i
		}
	}
	loop = append(loop[first:], loop[:first]...)
	names := []string{list[loop[0].from].ID.String()}
	var notes []diag.Note
	for _, e := range loop {
		from, to := list[e.from], list[e.to]
		names = append(names, to.ID.String())
		notes = append(notes, diag.Note{
			Pos:  list[e.by].Locate(schema.Path{e.property, e.index}...),
			Text: from.ID.String() + " comes before " + to.ID.String() + " (" + e.property + ")",
		})
	}
	return diag.List{{
		Pos: list[loop[0].from].Pos, Err: diag.Errorf(diag.Pos{}, "dependency cycle: %s", strings.Join(names, " → ")).Err, Notes: notes,
	}}
}

// intHeap is a container/heap of ints, lowest first.
type intHeap []int

func (h intHeap) Len() int           { return len(h) }
func (h intHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h intHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *intHeap) Push(x any)        { *h = append(*h, x.(int)) }
func (h *intHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
