package luaedit

import (
	"strings"

	"github.com/luaccm/ccm/luaapi"
)

// A Remainder is what a statement outside of all others says besides some calls in it, its words with
// a blank between them: of if port then file { "/a" } end it is if port then end.
type Remainder struct {
	Words string
	Line  int
	Calls []int // the numbers of those calls
}

// Rests returns the rests of all statements in which anything is left without the calls that is
// tells.
func (s *Script) Rests(is func(call int) bool) []Remainder {
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
	for _, w := range append(s.layout.Words, luaapi.Word{From: len(s.Text), To: len(s.Text)}) {
		if gap := s.Text[at:w.From]; strings.Contains(gap, "--") {
			line, _ := s.Place(at + strings.Index(gap, "--"))
			out = append(out, Comment{strings.TrimSpace(gap), line})
		}
		at = w.To
	}
	return out
}
