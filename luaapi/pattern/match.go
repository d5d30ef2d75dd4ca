package pattern

import "github.com/luaccm/ccm/runtime/diag"

// ErrTooComplex is returned when a match took too many steps and was given up.
var ErrTooComplex = diag.Too("the pattern", "complex for this text")

// A Budget bounds the work of one or several matches.
type Budget struct {
	// Steps is the number of remaining steps.
	Steps int
	// Check is called from time to time; an error ends the match. It may be nil.
	Check func() error

	next int // the value of Steps at which Check is asked again
}

// checkEvery is the number of steps between two calls of Check.
const checkEvery = 1 << 14

// spend takes n steps.
func (b *Budget) spend(n int) error {
	b.Steps -= n
	if b.Steps < 0 {
		return ErrTooComplex
	}
	if b.Check != nil && b.Steps <= b.next {
		b.next = b.Steps - checkEvery
		return b.Check()
	}
	return nil
}

// A Span is a part of the subject from Start to End. Of a position capture,
// End is -1.
type Span struct{ Start, End int }

// IsPosition reports whether the span is a position capture.
func (s Span) IsPosition() bool { return s.End < 0 }

// A Match is the place of a match.
type Match struct {
	Span
	Captures []Span
}

// Find returns the first match in s at or after init, or false if there is
// none. The captures of the match are valid until the next call with the same
// buffer; buf may be nil.
func (p *Pattern) Find(s string, init int, b *Budget, buf []Span) (Match, bool, error) {
	if b.next == 0 {
		b.next = b.Steps - checkEvery
	}
	if cap(buf) < p.captures {
		buf = make([]Span, p.captures)
	}
	m := matcher{p: p, s: s, b: b, caps: buf[:p.captures]}
	for at := init; at <= len(s); at++ {
		to := m.match(at, 0)
		if m.err != nil {
			return Match{}, false, m.err
		}
		if to >= 0 {
			return Match{Span{at, to}, m.caps}, true, nil
		}
		if p.anchored {
			break
		}
	}
	return Match{}, false, nil
}

// Anchored reports whether the pattern can match in one place only.
func (p *Pattern) Anchored() bool { return p.anchored }

// A matcher tries one pattern on one subject. After an error nothing matches.
type matcher struct {
	p    *Pattern
	s    string
	b    *Budget
	caps []Span
	err  error
}

// spend takes n steps and reports whether to go on.
func (m *matcher) spend(n int) bool {
	if m.err == nil {
		m.err = m.b.spend(n)
	}
	return m.err == nil
}

// match matches the items from number i on with the subject from at on. It returns the end of the
// match, or -1. Every way through a pattern sets all of its captures, so a failed way needs no
// restoring.
func (m *matcher) match(at, i int) int {
	for ; i < len(m.p.items); i++ {
		if !m.spend(1) {
			return -1
		}
		it := &m.p.items[i]
		switch it.kind {
		case single:
			if it.rep != 0 {
				return m.repeat(it, at, i+1)
			}
			if at >= len(m.s) || !it.set.has(m.s[at]) {
				return -1
			}
			at++
		case open:
			m.caps[it.n].Start = at
		case shut:
			m.caps[it.n].End = at
		case position:
			m.caps[it.n] = Span{at, -1}
		case end:
			if at < len(m.s) {
				return -1
			}
		case balance:
			if at = m.balanced(it, at); at < 0 {
				return -1
			}
		case frontier:
			var before, here byte
			if at > 0 {
				before = m.s[at-1]
			}
			if at < len(m.s) {
				here = m.s[at]
			}
			if it.set.has(before) || !it.set.has(here) {
				return -1
			}
		case back:
			if at = m.backReference(it.n, at); at < 0 {
				return -1
			}
		}
	}
	return at
}

// repeat matches a repeated single, and after it the items from next on.
func (m *matcher) repeat(it *item, at, next int) int {
	if it.rep == '-' {
		return m.shortest(it, at, next)
	}
	most := len(m.s) - at
	if it.rep == '?' {
		most = min(most, 1)
	}
	n := 0
	for n < most && it.set.has(m.s[at+n]) {
		n++
	}
	if !m.spend(n / 8) {
		return -1
	}
	least := 0
	if it.rep == '+' {
		least = 1
	}
	for ; n >= least; n-- {
		// A capture that this way overwrites is set again by the next way.
		if to := m.match(at+n, next); to >= 0 || m.err != nil {
			return to
		}
	}
	return -1
}

func (m *matcher) shortest(it *item, at, next int) int {
	for {
		if to := m.match(at, next); to >= 0 || m.err != nil {
			return to
		}
		if at >= len(m.s) || !it.set.has(m.s[at]) {
			return -1
		}
		at++
	}
}

// balanced returns the end of the balanced text that begins at at, or -1.
func (m *matcher) balanced(it *item, at int) int {
	if at >= len(m.s) || m.s[at] != it.x {
		return -1
	}
	depth := 1
	for i := at + 1; i < len(m.s); i++ {
		switch m.s[i] {
		case it.y:
			if depth--; depth == 0 {
				if !m.spend((i - at) / 8) {
					return -1
				}
				return i + 1
			}
		case it.x:
			depth++
		}
	}
	m.spend((len(m.s) - at) / 8)
	return -1
}

// backReference matches the text of capture n once more, at at. It returns the end, or -1.
func (m *matcher) backReference(n, at int) int {
	c := m.caps[n]
	if c.IsPosition() {
		return at
	}
	text := m.s[c.Start:c.End]
	if !m.spend(len(text)/8) || len(m.s)-at < len(text) || m.s[at:at+len(text)] != text {
		return -1
	}
	return at + len(text)
}
