package syntax

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/yuin/gopher-lua/parse"

	"github.com/luaccm/ccm/runtime/diag"
)

// A checker parses a text by the grammar of Lua to find the first mistake and the token
// that the grammar wants there. The parser of gopher-lua knows only the place.
type checker struct {
	tokens []Token
	at     int
}

// check returns the first mistake, or nil.
func (c *checker) check() (m *diag.Error) {
	defer func() {
		if r := recover(); r != nil {
			found, ok := r.(*diag.Error)
			if !ok {
				panic(r)
			}
			m = found
		}
	}()
	c.block()
	if c.peek() != parse.EOF {
		c.want("a statement")
	}
	return nil
}

// peek returns the type of the next token.
func (c *checker) peek() int { return c.ahead(0) }

func (c *checker) ahead(n int) int {
	if c.at+n >= len(c.tokens) {
		return parse.EOF
	}
	return c.tokens[c.at+n].Typ
}

// accept takes the next token if it is of that type.
func (c *checker) accept(typ int) bool {
	if c.peek() != typ {
		return false
	}
	c.at++
	return true
}

// expect takes the next token, which must be of that type.
func (c *checker) expect(typ int, want string) {
	if !c.accept(typ) {
		c.want("%s", want)
	}
}

// want ends the check with the mistake that the next token is not the wanted one.
func (c *checker) want(format string, args ...any) {
	c.wrong("", format, args...)
}

func (c *checker) wrong(hint, format string, args ...any) {
	want := fmt.Sprintf(format, args...)
	e := &diag.Error{Hint: hint}
	if c.at < len(c.tokens) {
		t := c.tokens[c.at]
		e.Pos = diag.Pos{Line: t.Line, Col: t.Col, Len: t.len}
		e.Err = &Error{Text: diag.Expected("%s", want).Got("%s", t.describe()).Error()}
		if e.Hint == "" {
			e.Hint = c.guess(want)
		}
		panic(e)
	}
	e.Err = &Error{Text: diag.Expected("%s", want).Got("the end of the text").Error(), Unfinished: true}
	if len(c.tokens) > 0 {
		t := c.tokens[len(c.tokens)-1]
		e.Pos = diag.Pos{Line: t.Line, Col: t.Col + t.len}
	}
	panic(e)
}

// describe names t in a message.
func (t Token) describe() string {
	switch t.Typ {
	case parse.TString:
		if len(t.text) > 40 {
			return "a string"
		}
		return "the string " + strconv.Quote(t.text)
	case parse.TNumber:
		return "the number " + t.text
	}
	return t.text
}

// keyword reports whether t is a reserved word.
func (t Token) keyword() bool { return t.Typ >= parse.TAnd && t.Typ <= parse.TGoto }

// guess returns a hint for a token that is common in other languages.
func (c *checker) guess(want string) string {
	t := c.tokens[c.at]
	var before, after Token
	if c.at > 0 {
		before = c.tokens[c.at-1]
	}
	if c.at+1 < len(c.tokens) {
		after = c.tokens[c.at+1]
	}
	touches := func(a, b Token) bool { return a.Line == b.Line && a.Col+a.len == b.Col }
	switch {
	case operator(t.Typ) && after.Typ == '=' && touches(t, after):
		return fmt.Sprintf("write x = x %s ..., Lua does not have %s=", t.text, t.text)
	case t.Typ == '/' && before.Typ == '/' && touches(before, t):
		return "start a comment with --"
	case t.Typ == '=' && (strings.HasPrefix(want, "then ") || strings.HasPrefix(want, "do ")):
		return "use == to compare"
	case t.Typ == parse.TIf && before.Typ == parse.TElse:
		return "use elseif"
	case t.keyword() && strings.Contains(want, "name"):
		return fmt.Sprintf("%s is a reserved word of Lua", t.text)
	}
	return ""
}

// describeStart describes a construct in a message about its missing end.
func (c *checker) describeStart(what string, line int) string {
	return fmt.Sprintf("%s that begins on line %d", what, line)
}

// line returns the line of the next token.
func (c *checker) line() int {
	if c.at < len(c.tokens) {
		return c.tokens[c.at].Line
	}
	return 0
}
