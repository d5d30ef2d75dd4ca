package state

import (
	"strings"
)

// lastAppliedList are those of one file.
type lastAppliedList struct {
	list []lastApplied
	// next is behind the one that was found last: they are mostly asked for in the
	// order in which they are.
	next int
	byID map[string]int // nil until one is not found that way
}

// find returns the wish of a resource.
func (w *lastAppliedList) find(id string) (lastApplied, bool) {
	if w.byID == nil {
		for i, x := range w.list[w.next:] {
			if x.id == id {
				w.next += i + 1
				return x, true
			}
		}
		w.byID = make(map[string]int, len(w.list))
		for i, x := range w.list {
			w.byID[x.id] = i
		}
	}
	i, ok := w.byID[id]
	if !ok {
		return lastApplied{}, false
	}
	return w.list[i], true
}

// readLastApplied returns the wishes in the lines of a text, and whether there are lines
// that are none.
func readLastApplied(text string) (w lastAppliedList, damaged bool) {
	list := make([]lastApplied, 0, strings.Count(text, "\n"))
	for line := range strings.Lines(text) {
		x, err := parseLastApplied(strings.TrimSuffix(line, "\n"))
		if err != nil {
			damaged = true
			continue
		}
		list = append(list, x)
	}
	return lastAppliedList{list: list}, damaged
}
