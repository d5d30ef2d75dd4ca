package data

import "strings"

// The YAML library takes about 10 ns for each character of a text, and more for
// each token and node. So the text of a long document is cut before it is read. Set
// aside are long scalars (scalars.go). Runs of list items are cut out and read by
// several goroutines (parts.go). Something short stands in the place of each.
//
// What is cut is found line by line, which knows little of YAML. So it counts only
// if the library then finds each short thing where it was put, as what it is there.
// Up to that place it has read what it would have read of the whole text, and behind
// it goes on at the beginning of the same line in the same state. Whatever else
// happens, the text is read again as it is: mistakes are always those of the whole
// text. FuzzCut and FuzzCutLines hold one against the other.

// longText is how long a text must be to be cut.
const longText = 4 << 10

// limits say what is worth being cut out.
type limits struct {
	scalar       int // of how many bytes at least
	small, large int // parts of how many bytes at least, and about; 0 means none
}

var usual = limits{scalar: 48, small: 2 << 10, large: 8 << 10}

// scissors cut a text line by line.
type scissors struct {
	limits
	text string
	out  strings.Builder // the text without scalars that were set aside
	done int             // what of text is in out
	at   int             // where the next line begins in text
	line int             // its number in text
	less int             // by how many lines out is shorter up to there
	cuts []cut
	parting
}

// cutUp returns a text without its long scalars and the runs of list items that can be
// read by themselves. It returns nil if there is nothing to cut.
func cutUp(text string, worth limits) *piece {
	s := scissors{limits: worth, text: text, line: 1}
	s.out.Grow(len(text)/4 + 1024)
	for s.at < len(text) {
		s.next()
	}
	s.close(-1, true, s.here())
	if len(s.cuts) == 0 && len(s.runs) == 0 {
		return nil
	}
	s.copy(len(text))
	trunk := &piece{text: s.out.String(), line: 1, cuts: s.cuts}
	if len(s.runs) > 0 && !isAnnotated(trunk.text) && !isConnected(trunk.text) {
		trunk = s.split(trunk)
	}
	if len(trunk.cuts) == 0 {
		return nil
	}
	return trunk
}

// next deals with one line, or with a block scalar.
func (s *scissors) next() {
	line := s.rest(s.at)
	indent := indentOf(line)
	if indent == len(line) || line[indent] == '#' { // it is blank, or a comment
		s.skip(line)
		return
	}
	s.indented(line, indent)
	if i, chomp, ok := blockHeader(line); ok {
		s.skip(line)
		s.blockScalar(line, indent, i, chomp)
		return
	}
	if len(line) > s.scalar {
		s.quoted(line, indent)
	}
	s.skip(line)
}

// rest returns the line that begins at i, without its end.
func (s *scissors) rest(i int) string {
	line := s.text[i:]
	if n := strings.IndexByte(line, '\n'); n >= 0 {
		line = line[:n]
	}
	return line
}

// skip goes to the next line.
func (s *scissors) skip(line string) {
	s.at = min(s.at+len(line)+1, len(s.text))
	s.line++
}

// copy takes the text up to i over as it is.
func (s *scissors) copy(i int) {
	s.out.WriteString(s.text[s.done:i])
	s.done = i
}

// indentOf returns how many spaces a text begins with.
func indentOf(line string) int {
	n := 0
	for n < len(line) && line[n] == ' ' {
		n++
	}
	return n
}
