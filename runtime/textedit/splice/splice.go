// Package splice represents changes of a text: ranges of bytes and their replacements.
package splice

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A Splice replaces the bytes [From, To) of a text.
type Splice struct {
	From, To int
	Text     string
}

// Apply returns a text with all splices applied. Their offsets are those of the text before; their order is free. It
// is an error if they overlap or lie outside the text.
func Apply(text string, list []Splice) (string, error) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Splice) int { return a.From - b.From })
	var out strings.Builder
	at := 0
	for _, s := range list {
		if s.From < at || s.To < s.From || s.To > len(text) {
			return "", fmt.Errorf("splice from %d to %d exceeds a text of %d bytes", s.From, s.To, len(text))
		}
		out.WriteString(text[at:s.From])
		out.WriteString(s.Text)
		at = s.To
	}
	out.WriteString(text[at:])
	return out.String(), nil
}

// A piece is a part of a changed text: a range of the old text, or new text.
type piece struct {
	from, to int // range of the old text, if new is empty
	new      string
}

func (p piece) size() int { return len(p.new) + p.to - p.from }

// Join merges splices that were applied one after another, each with offsets in the result of the one before. The
// merged splices have offsets in the original text, are sorted, and give the same result.
func Join(text string, list []Splice) []Splice {
	pieces := []piece{{to: len(text)}}
	for _, s := range list {
		pieces = cut(pieces, s)
	}
	var out []Splice
	var open *Splice
	at := 0
	for _, p := range append(pieces, piece{from: len(text), to: len(text)}) {
		if p.new != "" || p.from > at {
			if open == nil {
				out = append(out, Splice{From: at, To: at})
				open = &out[len(out)-1]
			}
		}
		if p.new != "" {
			open.Text += p.new
			continue
		}
		if open != nil {
			open.To = p.from
		}
		if p.to > p.from {
			open = nil
		}
		at = p.to
	}
	return slices.DeleteFunc(out, func(s Splice) bool { return text[s.From:s.To] == s.Text })
}

// cut applies a splice to pieces.
func cut(pieces []piece, s Splice) []piece {
	var out []piece
	put := func(p piece) {
		if p.size() > 0 {
			out = append(out, p)
		}
	}
	at, placed := 0, false
	for _, p := range pieces {
		head, tail := min(max(s.From-at, 0), p.size()), min(max(s.To-at, 0), p.size())
		put(p.part(0, head))
		if !placed && s.From <= at+p.size() {
			put(piece{new: s.Text})
			placed = true
		}
		put(p.part(tail, p.size()))
		at += p.size()
	}
	if !placed {
		put(piece{new: s.Text})
	}
	return out
}

// part returns the bytes from from to to of a piece.
func (p piece) part(from, to int) piece {
	if p.new != "" {
		return piece{new: p.new[from:to]}
	}
	return piece{from: p.from + from, to: p.from + to}
}

// UTF16 converts the offsets of splices from bytes to units of UTF-16, which JavaScript counts. An invalid byte
// counts as one unit.
func UTF16(text string, list []Splice) []Splice {
	return mapped(text, list, func(size, units int) (step, width int) { return size, units })
}

// FromUTF16 converts the offsets of splices from units of UTF-16 to bytes. An offset inside a surrogate pair becomes
// that of its end.
func FromUTF16(text string, list []Splice) []Splice {
	return mapped(text, list, func(size, units int) (step, width int) { return units, size })
}

// mapped converts the offsets of splices. count returns the size of a character in the offsets of list and in those
// of the result, given its bytes and UTF-16 units.
func mapped(text string, list []Splice, count func(size, units int) (step, width int)) []Splice {
	out := slices.Clone(list)
	var offsets []*int
	for i := range out {
		offsets = append(offsets, &out[i].From, &out[i].To)
	}
	slices.SortStableFunc(offsets, func(a, b *int) int { return *a - *b })
	at, here, there := 0, 0, 0
	for _, o := range offsets {
		for here < *o && at < len(text) {
			r, size := utf8.DecodeRuneInString(text[at:])
			step, width := count(size, max(utf16.RuneLen(r), 1))
			at, here, there = at+size, here+step, there+width
		}
		*o = there
	}
	return out
}

// LineStart returns the start of the line around an offset.
func LineStart(text string, at int) int { return strings.LastIndexByte(text[:at], '\n') + 1 }

// LineEnd returns the end of the line around an offset, after its newline.
func LineEnd(text string, at int) int {
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

// WithEndsOf converts the line ends of a new part to those of the text.
func WithEndsOf(text, part string) string {
	if !strings.Contains(text, "\r\n") {
		return part
	}
	return strings.ReplaceAll(strings.ReplaceAll(part, "\r\n", "\n"), "\n", "\r\n")
}
