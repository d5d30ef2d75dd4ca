package model

import "slices"

// order moves the resources in the file as in the typed text. The longest run with unchanged order
// stays, and all others are moved.
func (d *derivation) order() {
	position := make(map[string]int)
	for i, e := range d.old {
		position[e.id] = i
	}
	var kept []entry
	for _, e := range d.now {
		if _, ok := position[e.id]; ok {
			kept = append(kept, e)
		}
	}
	stays := longestRun(kept, position)
	for i := len(kept) - 1; i >= 0; i-- {
		e := kept[i]
		if stays[e.id] {
			continue
		}
		at := ""
		if i+1 < len(kept) {
			at = d.fileKey(kept[i+1].id)
		}
		key := d.fileKey(e.id)
		if key == "" || d.m.Resource(key) != nil && len(d.m.Resource(key).Names) > 1 {
			d.mark(e.Line, &e, "", "%s cannot be moved separately", e.id)
			continue
		}
		d.apply(e.Line, &e, Edit{Op: Move, Resources: []string{key}, At: at})
	}
}

// longestRun returns the IDs of the longest part of a list whose positions rise.
func longestRun(list []entry, position map[string]int) map[string]bool {
	out := make(map[string]bool)
	for _, e := range list {
		out[e.id] = true
	}
	if slices.IsSortedFunc(list, func(a, b entry) int { return position[a.id] - position[b.id] }) {
		return out
	}
	clear(out)
	length, before := make([]int, len(list)), make([]int, len(list))
	best := -1
	for i := range list {
		length[i], before[i] = 1, -1
		for k := range i {
			if position[list[k].id] < position[list[i].id] && length[k] >= length[i] {
				length[i], before[i] = length[k]+1, k
			}
		}
		if best < 0 || length[i] > length[best] {
			best = i
		}
	}
	for ; best >= 0; best = before[best] {
		out[list[best].id] = true
	}
	return out
}
