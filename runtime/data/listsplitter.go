package data

import (
	"cmp"
	"slices"
	"strings"
)

// A listSplitter finds runs of list items in a text. All it knows of YAML is that an item
// begins with a dash and ends at the first line that is not indented more.
type listSplitter struct {
	open []openList // lists around the line, outermost first
	runs []itemRun
}

// A position is the beginning of a line.
type position struct {
	offset int // in the prescanned text
	line   int // in the prescanned text
	origin int // in the document
}

// An openList is a list whose end has not been reached.
type openList struct {
	col        int
	item       position // where its last item begins
	nestedRuns bool     // runs of a list in that item are taken out
	run        itemRun  // of items before it; from.line is 0 if there are none
}

// An itemRun is a sequence of items of one list.
type itemRun struct {
	col      int
	from, to position
}

// position returns the beginning of the next line.
func (s *prescan) position() position {
	return position{s.out.Len() + s.at - s.copied, s.line - s.removed, s.line}
}

// noteIndent records that a line begins at column col.
func (s *prescan) noteIndent(line string, col int) {
	dash := line[col] == '-' && (col+1 == len(line) || line[col+1] == ' ')
	if !dash && (len(s.open) == 0 || s.open[len(s.open)-1].col < col) {
		return
	}
	here := s.position()
	s.closeLists(col, !dash, here)
	if !dash {
		return
	}
	if n := len(s.open); n == 0 || s.open[n-1].col < col {
		s.open = append(s.open, openList{col: col, item: here})
		return
	}
	top := &s.open[len(s.open)-1]
	s.endItem(top, here)
	top.item, top.nestedRuns = here, false
}

// closeLists ends the lists whose items are indented more than col and, if even is set,
// those whose items are indented as much.
func (s *prescan) closeLists(col int, even bool, here position) {
	for n := len(s.open) - 1; n >= 0; n-- {
		top := &s.open[n]
		if top.col < col || top.col == col && !even {
			return
		}
		s.endItem(top, here)
		s.open = s.open[:n]
		s.addRun(top.run)
	}
}

// endItem records that the last item of a list ends at here.
func (s *prescan) endItem(l *openList, here position) {
	if l.nestedRuns {
		s.addRun(l.run)
		l.run = itemRun{}
		return
	}
	if l.run.from.line == 0 {
		l.run = itemRun{col: l.col, from: l.item}
	}
	if l.run.to = here; here.offset-l.run.from.offset >= s.large {
		s.addRun(l.run)
		l.run = itemRun{}
	}
}

// addRun records a run that is to be parsed alone, if it is long enough.
func (s *prescan) addRun(r itemRun) {
	if r.from.line == 0 || r.to.offset-r.from.offset < s.small || s.large == 0 {
		return
	}
	s.runs = append(s.runs, r)
	for i := range s.open {
		if s.open[i].col < r.col {
			s.open[i].nestedRuns = true
		}
	}
}

// extractRuns moves the runs of a text into parts, together with the placeholders in them.
func (s *prescan) extractRuns(whole *chunk) *chunk {
	slices.SortFunc(s.runs, func(a, b itemRun) int { return cmp.Compare(a.from.offset, b.from.offset) })
	trunk := &chunk{line: 1}
	var out strings.Builder
	done, lost := 0, 0 // bytes of the text that were handled, and lines that were taken out
	rest := whole.placeholders
	before := func(line int) (cuts []placeholder) {
		n, _ := slices.BinarySearchFunc(rest, line, func(c placeholder, line int) int { return cmp.Compare(c.line, line) })
		cuts, rest = rest[:n:n], rest[n:]
		return cuts
	}
	keep := func(cuts []placeholder) {
		for _, c := range cuts {
			c.line -= lost
			c.removed += lost
			trunk.placeholders = append(trunk.placeholders, c)
		}
	}
	for _, r := range s.runs {
		keep(before(r.from.line))
		p := &listPart{col: r.col, chunk: chunk{text: whole.text[r.from.offset:r.to.offset], line: r.from.origin, placeholders: before(r.to.line)}}
		for i := range p.placeholders {
			p.placeholders[i].line -= r.from.line - 1
			p.placeholders[i].removed -= r.from.origin - r.from.line
		}
		out.WriteString(whole.text[done:r.from.offset])
		out.WriteString(strings.Repeat(" ", r.col) + shortItem)
		done = r.to.offset
		c := placeholder{line: r.from.line - lost, col: r.col + 3, style: doubleQuoted, part: p}
		lost += r.to.line - r.from.line - 1
		c.removed = r.to.origin - r.to.line + lost
		trunk.placeholders = append(trunk.placeholders, c)
	}
	keep(rest)
	out.WriteString(whole.text[done:])
	trunk.text = out.String()
	return trunk
}

// shortItem is the placeholder of a list part.
const shortItem = "- \"\"\n"

// hasCrossReferences reports whether a text may have what gives a part of it another
// meaning than the part has alone: aliases, several documents, directives, and explicit
// keys, whose missing value stands where the next item does.
func hasCrossReferences(text string) bool {
	for _, sign := range []string{" *", "[*", "{*", ",*", "\n*", "\n---", "\n...", "\n%", "\t", " ? ", "\n? ", " ?\n", "\n?\n"} {
		if strings.Contains(text, sign) {
			return true
		}
	}
	return strings.HasPrefix(text, "%") || strings.HasPrefix(text, "?")
}

// hasAnnotations reports whether a text may have comments with annotations.
func hasAnnotations(text string) bool {
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
