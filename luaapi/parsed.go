package luaapi

import (
	"strings"

	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/schema"
)

// A Parsed is a script that was read and is not evaluated, for tools that look
// at scripts.
type Parsed struct {
	Name, Text string
	Stmts      []ast.Stmt

	tree *tree
}

// Parse reads a script. The error is that of a run.
func Parse(name, text string) (*Parsed, error) {
	text = strings.TrimPrefix(text, "\ufeff")
	if _, err := parseLua(parsed(text), name); err != nil {
		return nil, syntaxMistake(name, parsed(text), err)
	}
	t := newTree(0, parsed(text))
	return &Parsed{Name: name, Text: text, Stmts: t.stmts, tree: t}, nil
}

// Source is the diag.Sources of p.
func (p *Parsed) Source(file string) (string, bool) { return p.Text, file == p.Name }

// Pos returns the place of a node.
func (p *Parsed) Pos(n ast.PositionHolder) diag.Pos {
	pos := p.tree.posOf(n)
	if pos.Line == 0 {
		pos = diag.Pos{Line: n.Line()}
	}
	pos.File = p.Name
	return pos
}

// Locals returns the places where local variables are named first, parameters
// and loop variables included, in the order of the text.
func (p *Parsed) Locals() []diag.Pos {
	out := make([]diag.Pos, len(p.tree.names))
	for i, at := range p.tree.names {
		out[i] = p.tokenPos(p.tree.tokens[at])
	}
	return out
}

func (p *Parsed) tokenPos(t token) diag.Pos {
	return diag.Pos{File: p.Name, Line: t.line, Col: t.col, Len: t.len}
}

// A Quoted is a string in quotes as it is written, with its place.
type Quoted struct {
	Pos  diag.Pos
	Text string // with its quotes
}

// Quoted returns the strings in quotes. Those in long brackets are none: they
// have no escapes.
func (p *Parsed) Quoted() []Quoted {
	lines := strings.SplitAfter(parsed(p.Text), "\n")
	var out []Quoted
	for _, t := range p.tree.tokens {
		if t.typ != parse.TString || t.line < 1 || t.line > len(lines) || t.col > len(lines[t.line-1]) {
			continue
		}
		rest := strings.Join(lines[t.line-1:min(len(lines), t.line+strings.Count(t.text, "\n")+1)], "")[t.col-1:]
		if rest[0] != '"' && rest[0] != '\'' {
			continue
		}
		end := 1
		for ; end < len(rest) && rest[end] != rest[0]; end++ {
			if rest[end] == '\\' {
				end++
			}
		}
		out = append(out, Quoted{p.tokenPos(t), rest[:min(end+1, len(rest))]})
	}
	return out
}

// PropertyPos returns the place of what path leads to in the table of properties
// of a constructor's call. It is nowhere if that is not written in the table.
func (p *Parsed) PropertyPos(call *ast.FuncCallExpr, path schema.Path, key bool) diag.Pos {
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

// ConstructorPos returns the place of the word that names the type in the call of
// a constructor.
func (p *Parsed) ConstructorPos(call *ast.FuncCallExpr) diag.Pos {
	pos := constructorPos(p.tree, call)
	pos.File = p.Name
	return pos
}

// Properties returns the table of properties in the call of a constructor, or
// nil.
func (p *Parsed) Properties(call *ast.FuncCallExpr) *ast.TableExpr { return tableArg(call) }

// AbsentHint returns what to use instead of a global of Lua that scripts do not
// have, or "".
func AbsentHint(name string) string { return absent[name] }
