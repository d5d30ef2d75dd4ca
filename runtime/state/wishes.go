package state

import (
	"strings"
)

// wishes are those of one file.
type wishes struct {
	list []wish
	// next is behind the one that was found last: they are mostly asked for in the
	// order in which they are.
	next int
	byID map[string]int // nil until one is not found that way
}

// of returns the wish of a resource.
func (w *wishes) of(id string) (wish, bool) {
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
		return wish{}, false
	}
	return w.list[i], true
}

// readWishes returns the wishes in the lines of a text, and whether there are lines
// that are none.
func readWishes(text string) (w wishes, damaged bool) {
	list := make([]wish, 0, strings.Count(text, "\n"))
	for line := range strings.Lines(text) {
		x, err := parseWish(strings.TrimSuffix(line, "\n"))
		if err != nil {
			damaged = true
			continue
		}
		list = append(list, x)
	}
	return wishes{list: list}, damaged
}
