package luaedit

import (
	"strings"

	"github.com/luaccm/ccm/luaapi/syntax"
)

// A Remainder is the rest of a statement outside of all others, without some calls in it, as words
// with blanks between them: if port then end of if port then file { "/a" } end.
type Remainder struct {
	Words string
	Line  int
	Calls []int // the numbers of those calls
}

// Remainders returns the remainders of all statements that do not consist of calls for which is returns
// true.
func (s *Script) Remainders(is func(call int) bool) []Remainder {
	words := s.layout.Words
	var out []Remainder
	next, call := 0, 0
	for i := range s.layout.Statements {
		end := len(words)
		if i+1 < len(s.layout.Statements) {
			if first, ok := s.firstWord(s.layout.Statements[i+1]); ok {
				end = max(first, next)
			}
		}
		var rest Remainder
		var text []string
		for w := next; w < end; w++ {
			for call < len(s.Calls) && (s.Calls[call].Span.From < words[w].From || s.Calls[call].Span.From == words[w].From && !is(call)) {
				call++
			}
			if call < len(s.Calls) && s.Calls[call].Span.From == words[w].From {
				rest.Calls = append(rest.Calls, call)
				for w+1 < end && words[w+1].To <= s.Calls[call].Span.To {
					w++
				}
				continue
			}
			if word := s.Text[words[w].From:words[w].To]; word != ";" {
				text = append(text, word)
			}
		}
		if len(text) > 0 && next < end {
			rest.Words = strings.Join(text, " ")
			rest.Line, _ = s.Place(words[next].From)
			out = append(out, rest)
		}
		next = end
	}
	return out
}

// A Comment is one comment of a script.
type Comment struct {
	Text string
	Line int
}

// Comments returns the comments of the script.
func (s *Script) Comments() []Comment {
	var out []Comment
	at := 0
	for _, w := range append(s.layout.Words, syntax.Word{From: len(s.Text), To: len(s.Text)}) {
		if gap := s.Text[at:w.From]; strings.Contains(gap, "--") {
			line, _ := s.Place(at + strings.Index(gap, "--"))
			out = append(out, Comment{strings.TrimSpace(gap), line})
		}
		at = w.To
	}
	return out
}
