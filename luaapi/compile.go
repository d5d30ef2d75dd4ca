package luaapi

import (
	"errors"
	"fmt"
	"slices"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/runtime/diag"
)

// maxLocals is how many local variables gopher-lua lets a function have.
const maxLocals = 200

// compile makes code of a syntax tree.
func compile(stmts []ast.Stmt, name string) (*lua.FunctionProto, error) {
	fixCompilerBugs(stmts)
	proto, err := lua.Compile(stmts, name)
	if err == nil {
		placeInstructions(proto)
		shrink(proto)
	}
	return proto, err
}

// shrink frees what gopher-lua has reserved for each function and the function does not need:
// 16 KiB, most of it for a thousand instructions.
func shrink(proto *lua.FunctionProto) {
	proto.Code = slices.Clone(proto.Code)
	proto.DbgSourcePositions = slices.Clone(proto.DbgSourcePositions)
	proto.DbgCalls = slices.Clone(proto.DbgCalls)
	proto.DbgLocals = slices.Clone(proto.DbgLocals)
	proto.DbgUpvalues = slices.Clone(proto.DbgUpvalues)
	proto.FunctionPrototypes = slices.Clone(proto.FunctionPrototypes)
	for _, inner := range proto.FunctionPrototypes {
		shrink(inner)
	}
}

// placeInstructions gives each instruction without a position that of the one before, or of
// the first that has one: an evaluation may be ended at any, and the message names the line.
func placeInstructions(proto *lua.FunctionProto) {
	positions := proto.DbgSourcePositions
	last := 0
	if i := slices.IndexFunc(positions, func(p int) bool { return p != 0 }); i >= 0 {
		last = positions[i]
	}
	for i, p := range positions {
		if p == 0 {
			positions[i] = last
		} else {
			last = p
		}
	}
	for _, inner := range proto.FunctionPrototypes {
		placeInstructions(inner)
	}
}

// compileMistake returns the mistake for a text that is Lua but cannot be
// compiled.
func (rp *mistakeCollector) compileMistake(c *chunk, err error) *diag.Error {
	e := &diag.Error{Pos: diag.Pos{File: c.name, Line: 1}, Err: err}
	ce, ok := errors.AsType[*lua.CompileError](err)
	if !ok {
		return e
	}
	e.Err = errors.New(ce.Message)
	if ce.Line > 0 && ce.Line < nodeBase {
		e.Pos.Line = ce.Line
	} else if ce.Line >= nodeBase {
		e.Pos = rp.in.source.exactPos(ce.Line)
	}
	for _, rule := range []struct {
		message string
		explain func(parts []string)
	}{
		{"%too many local variables%", func([]string) {
			p := c.tree().excessLocal()
			if p.Line == 0 {
				e.Err = errors.New("an expression is too long, or nested too deep")
				e.Hint = "divide it, or join many strings with table.concat"
				return
			}
			e.Err = fmt.Errorf("too many local variables: a function can have %d of them at a time", maxLocals)
			e.Hint = "put them into a table, or parts of the text between do and end"
			p.File = c.name
			e.Pos = p
		}},
		{"too many constants", func([]string) {
			e.Err = errors.New("too many different strings and numbers in one function")
			e.Hint = "divide it into several functions"
		}},
		{"no visible label '%' for <goto> at line %", func(parts []string) {
			e.Err = fmt.Errorf("goto %s: there is no label ::%[1]s:: in reach", parts[0])
			line, _ := number(parts[1])
			e.Pos = c.find(line, func(n ast.PositionHolder) bool { g, ok := n.(*ast.GotoStmt); return ok && g.Label == parts[0] })
		}},
		{"label '%' already defined on line %", func(parts []string) {
			e.Err = fmt.Errorf("the label ::%s:: is already in line %s", parts[0], parts[1])
			e.Pos = c.find(e.Pos.Line-1, func(n ast.PositionHolder) bool { l, ok := n.(*ast.LabelStmt); return ok && l.Name == parts[0] })
		}},
		{"<goto %> at line % jumps into the scope of local '%'", func(parts []string) {
			e.Err = fmt.Errorf("goto %s jumps to where the local %s lives", parts[0], parts[2])
			line, _ := number(parts[1])
			e.Pos = c.find(line, func(n ast.PositionHolder) bool { g, ok := n.(*ast.GotoStmt); return ok && g.Label == parts[0] })
		}},
		{"cannot use '...' outside a vararg function", func([]string) {
			e.Err = errors.New("... is not known here: the function has no ... among its parameters")
			e.Pos = c.find(e.Pos.Line, func(n ast.PositionHolder) bool { _, ok := n.(*ast.Comma3Expr); return ok })
		}},
		{"no loop to break", func([]string) { e.Err = errors.New("break stands outside of a loop") }},
	} {
		if parts, ok := match(ce.Message, rule.message); ok {
			rule.explain(parts)
			break
		}
	}
	return e
}

// find returns the place of the first node in a line that is wanted, or of the
// line.
func (c *chunk) find(line int, wanted func(ast.PositionHolder) bool) diag.Pos {
	pos := diag.Pos{File: c.name, Line: line}
	t := c.tree()
	w := walker{enter: func(n ast.PositionHolder) {
		if pos.Col == 0 && wanted(n) {
			if p := t.posOf(n); p.Line == line {
				pos.Col, pos.Len = p.Col, p.Len
			}
		}
	}}
	w.stmts(t.stmts)
	return pos
}

// excessLocal returns the place of the first local variable that is one too many
// for its function, or nowhere.
func (t *tree) excessLocal() diag.Pos {
	var found diag.Pos
	count, outer := 0, []int{}
	more := func(n int, at ast.PositionHolder) {
		if count += n; count > maxLocals && found.Line == 0 {
			found = t.posOf(at)
		}
	}
	w := walker{
		enter: func(n ast.PositionHolder) {
			switch n := n.(type) {
			case *ast.FunctionExpr:
				outer = append(outer, count)
				count = 0
				more(len(n.ParList.Names), n)
			case *ast.LocalAssignStmt:
				more(len(n.Names), n)
			}
		},
		leave: func(n ast.PositionHolder) {
			if _, ok := n.(*ast.FunctionExpr); ok {
				count = outer[len(outer)-1]
				outer = outer[:len(outer)-1]
			}
		},
	}
	var scopes []int
	w.scope = func(open bool) {
		if open {
			scopes = append(scopes, count)
			return
		}
		count = scopes[len(scopes)-1]
		scopes = scopes[:len(scopes)-1]
	}
	w.stmts(t.stmts)
	return found
}
