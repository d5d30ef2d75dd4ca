package luaapi

import (
	"fmt"
	"strconv"

	"github.com/yuin/gopher-lua/parse"

	"github.com/luaccm/ccm/runtime/diag"
)

// A checker reads a text as the grammar of Lua wants it, only to find the first
// place that is wrong and to say what should stand there.
type checker struct {
	tokens []token
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
	return c.tokens[c.at+n].typ
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

// want ends the check: something else than what is wanted stands here.
func (c *checker) want(format string, args ...any) {
	c.wrong("", format, args...)
}

func (c *checker) wrong(hint, format string, args ...any) {
	want := fmt.Sprintf(format, args...)
	e := &diag.Error{Hint: hint}
	if c.at < len(c.tokens) {
		t := c.tokens[c.at]
		e.Pos = diag.Pos{Line: t.line, Col: t.col, Len: t.len}
		e.Err = &syntaxError{text: fmt.Sprintf("want %s, got %s", want, t.describe())}
		if e.Hint == "" {
			e.Hint = c.guess()
		}
		panic(e)
	}
	e.Err = &syntaxError{text: fmt.Sprintf("want %s, got the end of the text", want), unfinished: true}
	if len(c.tokens) > 0 {
		t := c.tokens[len(c.tokens)-1]
		e.Pos = diag.Pos{Line: t.line, Col: t.col + t.len}
	}
	panic(e)
}

// describe names t in a message.
func (t token) describe() string {
	switch t.typ {
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
func (t token) keyword() bool { return t.typ >= parse.TAnd && t.typ <= parse.TGoto }

// guess returns advice for what stands here and in what people write who know
// other languages.
func (c *checker) guess() string {
	t := c.tokens[c.at]
	var before token
	if c.at > 0 {
		before = c.tokens[c.at-1]
	}
	touching := before.line == t.line && before.col+before.len == t.col
	switch {
	case t.typ == '=' && touching && (before.typ == '+' || before.typ == '-' || before.typ == '*' || before.typ == '/' || before.typ == parse.T2Comma):
		return fmt.Sprintf("Lua has no %s=: write x = x %s ...", before.text, before.text)
	case t.typ == '/' && touching && before.typ == '/':
		return "a comment begins with --"
	case t.typ == '=' && before.typ == parse.TIdent:
		return "a comparison is written =="
	case t.typ == parse.TIf && before.typ == parse.TElse:
		return "write elseif"
	case t.keyword() && t.typ != parse.TEnd:
		return fmt.Sprintf("%s is a word of Lua and cannot be a name", t.text)
	}
	return ""
}

// opened names a construct for a message about its end.
func (c *checker) opened(what string, line int) string {
	return fmt.Sprintf("%s that begins in line %d", what, line)
}

// line returns the line of the next token.
func (c *checker) line() int {
	if c.at < len(c.tokens) {
		return c.tokens[c.at].line
	}
	return 0
}

// block reads statements up to a word that ends a block.
func (c *checker) block() {
	for {
		switch c.peek() {
		case parse.EOF, parse.TEnd, parse.TElse, parse.TElseIf, parse.TUntil:
			return
		case ';':
			c.at++
		case parse.TReturn, parse.TBreak:
			word := c.tokens[c.at].text
			c.at++
			if word == "return" && !c.blockEnds() && c.peek() != ';' {
				c.exprs()
			}
			c.accept(';')
			if !c.blockEnds() {
				c.wrong(fmt.Sprintf("write do %s end to leave in the middle", word), "the end of the block after %s", word)
			}
			return
		default:
			c.statement()
		}
	}
}

func (c *checker) blockEnds() bool {
	switch c.peek() {
	case parse.EOF, parse.TEnd, parse.TElse, parse.TElseIf, parse.TUntil:
		return true
	}
	return false
}

// body reads a block and the end that closes it.
func (c *checker) body(what string, line int) {
	c.block()
	c.expect(parse.TEnd, "end to close the "+c.opened(what, line))
}

func (c *checker) statement() {
	line := c.line()
	switch c.peek() {
	case parse.TIf:
		c.ifStatement(line)
	case parse.TWhile:
		c.at++
		c.expr()
		c.expect(parse.TDo, "do after the condition of while")
		c.body("while", line)
	case parse.TDo:
		c.at++
		c.body("do", line)
	case parse.TFor:
		c.forStatement(line)
	case parse.TRepeat:
		c.at++
		c.block()
		c.expect(parse.TUntil, "until to close the "+c.opened("repeat", line))
		c.expr()
	case parse.TFunction:
		c.at++
		c.expect(parse.TIdent, "the name of the function")
		for c.accept('.') {
			c.expect(parse.TIdent, "a name after the dot")
		}
		if c.accept(':') {
			c.expect(parse.TIdent, "a name after the colon")
		}
		c.function(line)
	case parse.TLocal:
		c.localStatement(line)
	case parse.T2Colon:
		c.at++
		c.expect(parse.TIdent, "the name of a label")
		c.expect(parse.T2Colon, ":: after the name of the label")
	case parse.TGoto:
		c.at++
		c.expect(parse.TIdent, "the name of a label")
	default:
		c.exprStatement()
	}
}

func (c *checker) ifStatement(line int) {
	c.at++
	c.expr()
	c.expect(parse.TThen, "then after the condition")
	c.block()
	for c.accept(parse.TElseIf) {
		c.expr()
		c.expect(parse.TThen, "then after the condition")
		c.block()
	}
	if c.accept(parse.TElse) {
		c.block()
	}
	c.expect(parse.TEnd, "end to close the "+c.opened("if", line))
}

func (c *checker) forStatement(line int) {
	c.at++
	c.expect(parse.TIdent, "the name of the loop variable")
	if c.accept('=') {
		c.expr()
		c.expect(',', "a comma and the last value of the loop")
		c.expr()
		if c.accept(',') {
			c.expr()
		}
	} else {
		for c.accept(',') {
			c.expect(parse.TIdent, "a name after the comma")
		}
		c.expect(parse.TIn, "= or in after the loop variable")
		c.exprs()
	}
	c.expect(parse.TDo, "do before the body of the loop")
	c.body("for", line)
}

func (c *checker) localStatement(line int) {
	c.at++
	if c.accept(parse.TFunction) {
		c.expect(parse.TIdent, "the name of the function")
		c.function(line)
		return
	}
	c.expect(parse.TIdent, "a name after local")
	for c.accept(',') {
		c.expect(parse.TIdent, "a name after the comma")
	}
	if c.accept('=') {
		c.exprs()
	}
}

// exprStatement reads a call or an assignment.
func (c *checker) exprStatement() {
	start := c.at
	variable, call := c.suffixed("a statement")
	if c.peek() == '=' || c.peek() == ',' {
		for variable && c.accept(',') {
			variable, _ = c.suffixed("a variable after the comma")
		}
		if variable {
			c.expect('=', "= after the variable")
			c.exprs()
			return
		}
	}
	if call {
		return
	}
	if c.at < len(c.tokens) && c.tokens[start].line == c.tokens[c.at].line || c.at == len(c.tokens) {
		c.want("= or a call after the name")
	}
	c.at = start
	c.want("a statement")
}
