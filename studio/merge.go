package studio

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// merged returns the three-way merge of texts by lines, like diff3(1): a change by one side is
// taken; different changes by both sides of the same or neighboring lines are a conflict.
// conflicts is the number of conflicts.
func merged(base, mine, theirs string) (chunks []Chunk, conflicts int) {
	a, b := udiff.Lines(base, mine), udiff.Lines(base, theirs)
	var plain strings.Builder
	at := 0 // in base
	flush := func() {
		if plain.Len() > 0 {
			chunks = append(chunks, Chunk{Text: plain.String()})
			plain.Reset()
		}
	}
	for len(a) > 0 || len(b) > 0 {
		// a region holds all edits of both sides that touch each other
		from := len(base)
		if len(a) > 0 {
			from = a[0].Start
		}
		if len(b) > 0 {
			from = min(from, b[0].Start)
		}
		to, na, nb := from, 0, 0
		for grown := true; grown; {
			grown = false
			if na < len(a) && a[na].Start <= to {
				to, grown = max(to, a[na].End), true
				na++
			}
			if nb < len(b) && b[nb].Start <= to {
				to, grown = max(to, b[nb].End), true
				nb++
			}
		}
		plain.WriteString(base[at:from])
		left, right := applied(base, from, to, a[:na]), applied(base, from, to, b[:nb])
		switch {
		case nb == 0 || left == right:
			plain.WriteString(left)
		case na == 0:
			plain.WriteString(right)
		default:
			flush()
			chunks = append(chunks, Chunk{Conflict: true, Base: base[from:to], PageText: left, DiskText: right})
			conflicts++
		}
		at, a, b = to, a[na:], b[nb:]
	}
	plain.WriteString(base[at:])
	flush()
	return chunks, conflicts
}

// applied returns a part of a text after edits within it.
func applied(text string, from, to int, edits []udiff.Edit) string {
	var b strings.Builder
	for _, e := range edits {
		b.WriteString(text[from:e.Start])
		b.WriteString(e.New)
		from = e.End
	}
	b.WriteString(text[from:to])
	return b.String()
}
