package data

import (
	"cmp"
	"slices"
	"strings"
)

// A parting finds the runs of list items in a text. Of YAML it knows that an item
// begins with a dash and ends where a line is not indented more.
type parting struct {
	open []list // lists around the line, outermost first
	runs []run
}

// A spot is the beginning of a line.
type spot struct {
	offset int // in the text without scalars that were set aside
	line   int // there
	origin int // in the document
}

// A list is one in the course of being read.
type list struct {
	col   int
	item  spot // where its last item begins
	inner bool // runs of a list in that item were cut out
	run   run  // of items before it; from.line is 0 if there are none
}

// A run is items that follow one another.
type run struct {
	col      int
	from, to spot
}

// here returns the beginning of the next line.
func (s *scissors) here() spot {
	return spot{s.out.Len() + s.at - s.done, s.line - s.less, s.line}
}

// indented takes note of a line and of the column in which it begins.
func (s *scissors) indented(line string, col int) {
	dash := line[col] == '-' && (col+1 == len(line) || line[col+1] == ' ')
	if !dash && (len(s.open) == 0 || s.open[len(s.open)-1].col < col) {
		return
	}
	here := s.here()
	s.close(col, !dash, here)
	if !dash {
		return
	}
	if n := len(s.open); n == 0 || s.open[n-1].col < col {
		s.open = append(s.open, list{col: col, item: here})
		return
	}
	top := &s.open[len(s.open)-1]
	s.ended(top, here)
	top.item, top.inner = here, false
}

// close ends the lists whose items are indented more than col, or as much if even
// says so.
func (s *scissors) close(col int, even bool, here spot) {
	for n := len(s.open) - 1; n >= 0; n-- {
		top := &s.open[n]
		if top.col < col || top.col == col && !even {
			return
		}
		s.ended(top, here)
		s.open = s.open[:n]
		s.take(top.run)
	}
}

// ended takes note of where the last item of a list ends.
func (s *scissors) ended(l *list, here spot) {
	if l.inner {
		s.take(l.run)
		l.run = run{}
		return
	}
	if l.run.from.line == 0 {
		l.run = run{col: l.col, from: l.item}
	}
	if l.run.to = here; here.offset-l.run.from.offset >= s.large {
		s.take(l.run)
		l.run = run{}
	}
}

// take notes that a run shall be cut out, if it is long enough.
func (s *scissors) take(r run) {
	if r.from.line == 0 || r.to.offset-r.from.offset < s.small || s.large == 0 {
		return
	}
	s.runs = append(s.runs, r)
	for i := range s.open {
		if s.open[i].col < r.col {
			s.open[i].inner = true
		}
	}
}

// split makes parts of the runs in a text, whose cuts become those of the pieces.
func (s *scissors) split(whole *piece) *piece {
	slices.SortFunc(s.runs, func(a, b run) int { return cmp.Compare(a.from.offset, b.from.offset) })
	trunk := &piece{line: 1}
	var out strings.Builder
	done, lost := 0, 0 // of the text, and of its lines
	rest := whole.cuts
	before := func(line int) (cuts []cut) {
		n, _ := slices.BinarySearchFunc(rest, line, func(c cut, line int) int { return cmp.Compare(c.line, line) })
		cuts, rest = rest[:n:n], rest[n:]
		return cuts
	}
	keep := func(cuts []cut) {
		for _, c := range cuts {
			c.line -= lost
			c.less += lost
			trunk.cuts = append(trunk.cuts, c)
		}
	}
	for _, r := range s.runs {
		keep(before(r.from.line))
		p := &part{col: r.col, piece: piece{text: whole.text[r.from.offset:r.to.offset], line: r.from.origin, cuts: before(r.to.line)}}
		for i := range p.cuts {
			p.cuts[i].line -= r.from.line - 1
			p.cuts[i].less -= r.from.origin - r.from.line
		}
		out.WriteString(whole.text[done:r.from.offset])
		out.WriteString(strings.Repeat(" ", r.col) + shortItem)
		done = r.to.offset
		c := cut{line: r.from.line - lost, col: r.col + 3, style: doubleQuoted, part: p}
		lost += r.to.line - r.from.line - 1
		c.less = r.to.origin - r.to.line + lost
		trunk.cuts = append(trunk.cuts, c)
	}
	keep(rest)
	out.WriteString(whole.text[done:])
	trunk.text = out.String()
	return trunk
}

// shortItem stands in the place of a part.
const shortItem = "- \"\"\n"

// isConnected reports whether a text has, or may have, what makes a part of it mean
// something else than by itself: aliases, several documents, directives, and
// explicit keys, which may lack a value that then stands where the next item does.
func isConnected(text string) bool {
	for _, sign := range []string{" *", "[*", "{*", ",*", "\n*", "\n---", "\n...", "\n%", "\t", " ? ", "\n? ", " ?\n", "\n?\n"} {
		if strings.Contains(text, sign) {
			return true
		}
	}
	return strings.HasPrefix(text, "%") || strings.HasPrefix(text, "?")
}

// isAnnotated reports whether a text has, or may have, comments that say something
// of values.
func isAnnotated(text string) bool {
	for rest := text; ; {
		i := strings.IndexByte(rest, '#')
		if i < 0 {
			return false
		}
		line, after, _ := strings.Cut(rest[i:], "\n")
		if strings.Contains(line, "@") {
			return true
		}
		rest = after
	}
}
