package data

import "strings"

// The YAML library takes about 10 ns for each character of a text, and more for
// each token and node. So a long document is shortened before the library reads it:
// long scalars are taken out (prescanscalar.go), and runs of list items are taken out
// and parsed by several goroutines (listsplitter.go). A short scalar, the placeholder,
// stands where each of them was.
//
// The prescan goes line by line and knows little of YAML. Its result counts only if the
// library finds every placeholder at its line and column, with its style. Then the
// library was in the same state there as it would have been in the whole text. In any
// other case the whole text is parsed, so every error is one of the whole text.
// FuzzCut and FuzzCutLines compare the two ways.

// longText is from how many bytes on a text is prescanned.
const longText = 4 << 10

// prescanLimits are the sizes from which on it pays to take something out.
type prescanLimits struct {
	scalar       int // the smallest scalar, in bytes
	small, large int // the smallest and the usual list part, in bytes; 0 for no parts
}

var defaultLimits = prescanLimits{scalar: 48, small: 2 << 10, large: 8 << 10}

// A prescan shortens a text line by line.
type prescan struct {
	prescanLimits
	text         string
	out          strings.Builder // the text with placeholders for scalars
	copied       int             // how many bytes of text are in out
	at           int             // the offset of the next line in text
	line         int             // its number in text
	removed      int             // how many lines out has less than text so far
	placeholders []placeholder
	listSplitter
}

// prescanText returns a text with placeholders for its long scalars and for the runs of
// list items that can be parsed alone. It returns nil if there are none.
func prescanText(text string, worth prescanLimits) *chunk {
	s := prescan{prescanLimits: worth, text: text, line: 1}
	s.out.Grow(len(text)/4 + 1024)
	for s.at < len(text) {
		s.readLine()
	}
	s.closeLists(-1, true, s.position())
	if len(s.placeholders) == 0 && len(s.runs) == 0 {
		return nil
	}
	s.copy(len(text))
	trunk := &chunk{text: s.out.String(), line: 1, placeholders: s.placeholders}
	if len(s.runs) > 0 && !hasAnnotations(trunk.text) && !hasCrossReferences(trunk.text) {
		trunk = s.extractRuns(trunk)
	}
	if len(trunk.placeholders) == 0 {
		return nil
	}
	return trunk
}

// readLine deals with one line, or with a block scalar.
func (s *prescan) readLine() {
	line := s.lineAt(s.at)
	indent := indentOf(line)
	if indent == len(line) || line[indent] == '#' { // it is blank, or a comment
		s.skip(line)
		return
	}
	s.noteIndent(line, indent)
	if i, chomp, ok := findBlockIndicator(line); ok {
		s.skip(line)
		s.blockScalar(line, indent, i, chomp)
		return
	}
	if len(line) > s.scalar {
		s.quotedScalar(line, indent)
	}
	s.skip(line)
}

// lineAt returns the line that begins at i, without its end.
func (s *prescan) lineAt(i int) string {
	line := s.text[i:]
	if n := strings.IndexByte(line, '\n'); n >= 0 {
		line = line[:n]
	}
	return line
}

// skip goes to the next line.
func (s *prescan) skip(line string) {
	s.at = min(s.at+len(line)+1, len(s.text))
	s.line++
}

// copy takes the text up to i over as it is.
func (s *prescan) copy(i int) {
	s.out.WriteString(s.text[s.copied:i])
	s.copied = i
}

// indentOf returns how many spaces a text begins with.
func indentOf(line string) int {
	n := 0
	for n < len(line) && line[n] == ' ' {
		n++
	}
	return n
}
