package syntax

import (
	"fmt"

	"github.com/yuin/gopher-lua/parse"
)

// operator reports whether typ is an operator between two values.
func operator(typ int) bool {
	switch typ {
	case parse.TOr, parse.TAnd, '<', '>', parse.TLte, parse.TGte, parse.TEqeq, parse.TNeq,
		parse.T2Comma, '+', '-', '*', '/', '%', '^':
		return true
	}
	return false
}

func (c *checker) exprs() {
	c.expr()
	for c.accept(',') {
		c.expr()
	}
}

// expr reads operands and the operators between them. Precedence does not matter here. It reports
// whether the whole is one call.
func (c *checker) expr() (call bool) {
	for alone := true; ; alone = false {
		for c.accept('-') || c.accept('#') || c.accept(parse.TNot) {
			alone = false
		}
		call = c.operand() && alone
		if !operator(c.peek()) {
			return call
		}
		c.at++
	}
}

// operand reads a value and reports whether it is a call.
func (c *checker) operand() (call bool) {
	switch c.peek() {
	case parse.TNumber, parse.TString, parse.TNil, parse.TTrue, parse.TFalse, parse.T3Comma:
		c.at++
	case '{':
		c.table()
	case parse.TFunction:
		line := c.line()
		c.at++
		c.function(line)
	default:
		_, call = c.suffixExpr("a value")
	}
	return call
}

// suffixExpr reads a name or a value in parentheses and all indexes and calls
// after it. It reports whether the whole can be assigned to and whether it is a
// call.
func (c *checker) suffixExpr(want string) (variable, call bool) {
	switch {
	case c.accept(parse.TIdent):
		variable = true
	case c.peek() == '(':
		line := c.line()
		c.at++
		call = c.expr()
		c.expect(')', "a parenthesis to close the one on line "+fmt.Sprint(line))
	default:
		c.want("%s", want)
	}
	for {
		switch c.peek() {
		case '.':
			c.at++
			c.expect(parse.TIdent, "a name after the dot")
			variable, call = true, false
		case '[':
			c.at++
			c.expr()
			c.expect(']', "] after the index")
			variable, call = true, false
		case ':':
			c.at++
			c.expect(parse.TIdent, "a name after the colon")
			c.arguments()
			variable, call = false, true
		case '(', '{', parse.TString:
			c.arguments()
			variable, call = false, true
		default:
			return variable, call
		}
	}
}

func (c *checker) arguments() {
	switch c.peek() {
	case parse.TString:
		c.at++
	case '{':
		c.table()
	case '(':
		line := c.line()
		c.at++
		if c.accept(')') {
			return
		}
		c.exprs()
		c.expect(')', fmt.Sprintf("a comma or a parenthesis to close the arguments that begin on line %d", line))
	default:
		c.want("the arguments of the call")
	}
}

// function reads the parameters and the body of a function.
func (c *checker) function(line int) {
	c.expect('(', "the parameters of the function in parentheses")
	for c.peek() != ')' {
		if c.accept(parse.T3Comma) {
			break
		}
		c.expect(parse.TIdent, "the name of a parameter")
		if !c.accept(',') {
			break
		}
		if c.peek() == ')' {
			c.want("the name of a parameter")
		}
	}
	c.expect(')', "a comma or a parenthesis after the parameters")
	c.body("function", line)
}

// table reads a table constructor.
func (c *checker) table() {
	line := c.line()
	c.at++
	for c.peek() != '}' {
		c.field()
		if c.peek() != ',' && c.peek() != ';' && c.peek() != '}' {
			c.tableEnd(line)
		}
		for c.accept(',') || c.accept(';') { // gopher-lua takes any number of them
		}
	}
	c.at++
}

func (c *checker) field() {
	switch {
	case c.peek() == '[':
		c.at++
		c.expr()
		c.expect(']', "] after the key")
		c.expect('=', "= after the key")
		c.expr()
	case c.peek() == parse.TIdent && c.ahead(1) == '=':
		c.at += 2
		c.expr()
	case c.at < len(c.tokens) && c.tokens[c.at].keyword() && c.ahead(1) == '=':
		word := c.tokens[c.at].text
		c.wrong(fmt.Sprintf("%s is a reserved word of Lua: write [%q] = ...", word, word), "a name")
	case c.peek() == parse.TIdent && c.ahead(1) == ':' && c.ahead(3) != '(' && c.ahead(3) != '{' && c.ahead(3) != parse.TString:
		c.at++
		c.wrong("write a table as { name = value }", "= after the name")
	default:
		c.expr()
	}
}

// tableEnd reports the token behind a field.
func (c *checker) tableEnd(line int) {
	hint := ""
	if c.at < len(c.tokens) {
		switch t := c.tokens[c.at]; {
		case t.Typ == '=' && c.tokens[c.at-1].Typ == parse.TString:
			hint = fmt.Sprintf("write [%q] = ...", c.tokens[c.at-1].text)
		case t.Typ == ':':
			hint = "write a table as { name = value }"
		}
	}
	c.wrong(hint, "a comma or } in the table that begins on line %d", line)
}
