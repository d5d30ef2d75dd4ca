package state

import (
	"strings"
)

// A lastAppliedList has the records of one file, in their order.
type lastAppliedList struct {
	list []lastApplied
	// next is the index behind the record that find returned last: calls are mostly in the order
	// of the file.
	next int
	byID map[string]int // nil until find needs it
}

// find returns the record of a resource.
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

// readLastApplied reads one record a line. Damaged says that some lines could not be read.
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
