package luaapi

import (
	"iter"
	"strings"

	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/schema"
)

// A Script is a parsed script that is not evaluated, for tools such as lint.
type Script struct {
	Name, Text string

	stmts []ast.Stmt
	tree  *tree // with the places of the present statement
}

// Parse reads a script. The error is that of a run.
func Parse(name, text string) (*Script, error) {
	text = strings.TrimPrefix(text, "\ufeff")
	stmts, err := parseText(withoutShebang(text), name)
	if err != nil {
		return nil, syntaxMistake(name, withoutShebang(text), err)
	}
	return &Script{Name: name, Text: text, stmts: stmts, tree: &tree{spans: make(map[ast.PositionHolder]span)}}, nil
}

// Statements returns the top-level statements of the script, in order, once. Only the latest
// statement and its parts have places: those of a script with many declarations would need
// several times its memory.
func (p *Script) Statements() iter.Seq[ast.Stmt] {
	return func(yield func(ast.Stmt) bool) {
		a := aligner{tree: p.tree, reader: newTokenReader(withoutShebang(p.Text))}
		for i, st := range p.stmts {
			a.forget()
			a.align(p.stmts[i : i+1])
			p.stmts[i] = nil
			if !yield(st) {
				return
			}
		}
	}
}

// Source is the diag.Sources of p.
func (p *Script) Source(file string) (string, bool) { return p.Text, file == p.Name }

// Pos returns the place of a node.
func (p *Script) Pos(n ast.PositionHolder) diag.Pos {
	pos := p.tree.posOf(n)
	if pos.Line == 0 {
		pos = diag.Pos{Line: n.Line()}
	}
	pos.File = p.Name
	return pos
}

// Locals returns the places where local variables of the statement are introduced, parameters and
// loop variables included, in the order of the text.
func (p *Script) Locals() []diag.Pos {
	out := make([]diag.Pos, len(p.tree.names))
	for i, at := range p.tree.names {
		out[i] = p.tokenPos(p.tree.tokens[at])
	}
	return out
}

func (p *Script) tokenPos(t token) diag.Pos {
	return diag.Pos{File: p.Name, Line: t.line, Col: t.col, Len: t.len}
}

// A StringLiteral is a string in quotes as written, with its place.
type StringLiteral struct {
	Pos  diag.Pos
	Text string // with its quotes
}

// StringLiterals returns the strings in quotes. Those in long brackets are none: they
// do not contain escapes.
func (p *Script) StringLiterals() iter.Seq[StringLiteral] {
	return func(yield func(StringLiteral) bool) {
		text := withoutShebang(p.Text)
		tokens := newTokenReader(text)
		begin, line := 0, 1 // of the line of the token
		for {
			t, err := tokens.read()
			if err != nil || t.typ == parse.EOF {
				return
			}
			for ; line < t.line; line++ {
				begin += strings.IndexByte(text[begin:], '\n') + 1
			}
			at := begin + t.col - 1
			if t.typ != parse.TString || at >= len(text) || text[at] != '"' && text[at] != '\'' {
				continue
			}
			end, _ := quotedEnd(text, at)
			if !yield(StringLiteral{p.tokenPos(t), text[at:end]}) {
				return
			}
		}
	}
}

// PropertyPos returns the position of the value at path in the table of a constructor's call;
// zero if the table does not have it.
func (p *Script) PropertyPos(call *ast.FuncCallExpr, path schema.Path, key bool) diag.Pos {
	if len(path) == 0 {
		return diag.Pos{}
	}
	name, _ := path[0].(string)
	f := fieldNamed(tableArg(call), []string{name})
	if f == nil {
		return diag.Pos{}
	}
	pos := inValue(p.tree, f, path[1:], key)
	pos.File = p.Name
	return pos
}

// NamePos returns the place of the first name in a constructor's call; zero if the call has none.
func (p *Script) NamePos(call *ast.FuncCallExpr) diag.Pos {
	pos := namePos(p.tree, call, tableArg(call), 0)
	pos.File = p.Name
	return pos
}

// ConstructorPos returns the place of the word that names the type in the call of
// a constructor.
func (p *Script) ConstructorPos(call *ast.FuncCallExpr) diag.Pos {
	pos := constructorPos(p.tree, call)
	pos.File = p.Name
	return pos
}

// Properties returns the table of properties in the call of a constructor, or
// nil.
func (p *Script) Properties(call *ast.FuncCallExpr) *ast.TableExpr { return tableArg(call) }

// AbsentHint returns the hint for a global of Lua that scripts do not have, or "".
func AbsentHint(name string) string { return absentGlobals[name] }
