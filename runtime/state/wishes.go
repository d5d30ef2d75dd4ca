package state

import (
	"runtime"
	"slices"
	"strings"
	"sync"
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
// that are none. Each processor reads a part of it.
func readWishes(text string) (w wishes, damaged bool) {
	parts := make([][]wish, runtime.GOMAXPROCS(0))
	bad := make([]bool, len(parts))
	var readers sync.WaitGroup
	for i := range parts {
		end := len(text)
		about := end / (len(parts) - i)
		if n := strings.IndexByte(text[about:], '\n'); n >= 0 && i < len(parts)-1 {
			end = about + n + 1
		}
		part := text[:end]
		text = text[end:]
		readers.Go(func() { parts[i], bad[i] = readPart(part) })
	}
	readers.Wait()
	return wishes{list: slices.Concat(parts...)}, slices.Contains(bad, true)
}

func readPart(text string) (list []wish, damaged bool) {
	list = make([]wish, 0, strings.Count(text, "\n"))
	for line := range strings.Lines(text) {
		x, err := parseWish(strings.TrimSuffix(line, "\n"))
		if err != nil {
			damaged = true
			continue
		}
		list = append(list, x)
	}
	return list, damaged
}
