package syntax

import (
	"fmt"

	"github.com/yuin/gopher-lua/parse"
)

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
				c.wrong(fmt.Sprintf("write do %s end to return early", word), "the end of the block after %s", word)
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
	c.expect(parse.TEnd, "end to close the "+c.describeStart(what, line))
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
		c.expect(parse.TUntil, "until to close the "+c.describeStart("repeat", line))
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
	c.expect(parse.TEnd, "end to close the "+c.describeStart("if", line))
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
	variable, call := c.suffixExpr("a statement")
	if c.peek() == '=' || c.peek() == ',' {
		for variable && c.accept(',') {
			variable, _ = c.suffixExpr("a variable after the comma")
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
	if c.at < len(c.tokens) && c.tokens[start].Line == c.tokens[c.at].Line || c.at == len(c.tokens) {
		c.want("= or a call after the name")
	}
	c.at = start
	c.want("a statement")
}
