package luaapi

import (
	"errors"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/luaapi/syntax"
	"github.com/luaccm/ccm/runtime/diag"
)

// asExpression is put before a text to parse it as an expression.
const asExpression = "return "

// blockAfterReturn begins the message of the checker about a statement after a return.
var blockAfterReturn = diag.Expected("the end of the block after return").Error()

// input is a text that a person typed.
type input struct {
	text       string // as typed
	source     string // as parsed
	prefix     string // the text inserted before it: asExpression, or ""
	stmts      []ast.Stmt
	err        *diag.Error
	unfinished bool // more text could make it valid
}

// parseInput parses a text as an expression or else as statements. An equals sign before an
// expression is allowed, as in the shell of Lua 5.1.
func parseInput(name, text string) *input {
	if rest, ok := strings.CutPrefix(strings.TrimLeft(text, " \t\r\n"), "="); ok && !strings.HasPrefix(rest, "=") {
		// The sign is replaced by a space, so that columns stay valid.
		at := strings.IndexByte(text, '=')
		p := parseAs(asExpression, name, text[:at]+" "+text[at+1:])
		p.text = text
		return p
	}
	expr := parseAs(asExpression, name, text)
	if expr.err == nil || expr.unfinished {
		if isEmpty(expr.stmts) {
			expr.prefix = ""
		}
		return expr
	}
	stmt := parseAs("", name, text)
	if stmt.err != nil && !stmt.unfinished && expr.err.Pos.Compare(stmt.err.Pos) > 0 {
		return expr
	}
	return stmt
}

// isEmpty reports whether there is nothing after the return.
func isEmpty(stmts []ast.Stmt) bool {
	if len(stmts) != 1 {
		return false
	}
	r, ok := stmts[0].(*ast.ReturnStmt)
	return ok && len(r.Exprs) == 0
}

// parseScript reads the text of a file.
func parseScript(name, text string) *input {
	p := parseAs("", name, syntax.WithoutShebang(strings.TrimPrefix(text, "\ufeff")))
	p.unfinished = false
	return p
}

func parseAs(prefix, name, text string) *input {
	p := &input{text: text, source: text, prefix: prefix}
	stmts, err := syntax.ParseTree(prefix+text, name)
	if err == nil {
		p.stmts = stmts
		return p
	}
	p.err = syntax.Mistake(name, prefix+text, err)
	if p.err.Pos.Line == 1 && p.err.Pos.Col > len(prefix) {
		p.err.Pos.Col -= len(prefix)
	}
	if text := p.err.Err.Error(); prefix != "" && strings.HasPrefix(text, blockAfterReturn) {
		// The text has no return.
		p.err.Err, p.err.Hint = &syntax.Error{Text: diag.Expected("an operator or the end").Error() + strings.TrimPrefix(text, blockAfterReturn)}, ""
	}
	syntax, ok := errors.AsType[*syntax.Error](p.err.Err)
	p.unfinished = ok && syntax.Unfinished || continuesString(text)
	return p
}

// continuesString reports whether a text ends inside of a string whose line ends with
// a backslash, so that the string goes on in the next line.
func continuesString(text string) bool {
	if !strings.HasSuffix(text, `\`) {
		return false
	}
	_, err := syntax.Tokenize(text + "\n\"")
	_, without := syntax.Tokenize(text)
	return err == nil && without != nil
}

// Unfinished reports whether more text could make a text valid.
func Unfinished(text string) bool { return parseInput("", text).unfinished }

// IsStatement reports whether a text is valid as statements of a script.
func IsStatement(text string) bool { return parseAs("", "", text).err == nil }

// compile makes code of a text of a console.
func (s *Console) compile(p *input, name, dir string) (*lua.LFunction, *chunk, error) {
	in := s.in
	c := &chunk{name: name, dir: dir, text: p.text, first: in.source.nextNode()}
	in.source.chunks = append(in.source.chunks, c)
	c.setTree(func() *syntax.Tree {
		t := syntax.NewTree(c.first, p.prefix+p.source)
		for i := range t.Tokens {
			if t.Tokens[i].Line == 1 {
				t.Tokens[i].Col -= len(p.prefix)
			}
		}
		return t
	})
	if p.err != nil {
		return nil, nil, p.err
	}
	c.numberNodes(p.stmts)
	proto, err := (&rewriter{ev: in.evaluator, declarer: in.declarer, c: c, chunk: len(in.source.chunks)}).compile(share(p.stmts))
	if err != nil {
		return nil, nil, in.report.compileMistake(c, err)
	}
	c.env = s.env
	fn := in.vm.NewFunctionFromProto(proto)
	fn.Env = s.env
	return fn, c, nil
}

// Parses reports whether a text is an expression or statements.
func Parses(text string) bool { return parseInput("", text).err == nil }
