package luaapi

import (
	"errors"
	"fmt"
	"slices"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/luaapi/syntax"
	"github.com/luaccm/ccm/runtime/diag"
)

const (
	// maxLocals is the largest number of local variables of a function. Lua has the same limit.
	maxLocals = 200
	// maxCaptured is the largest number of variables of outer functions that a function can use.
	maxCaptured = 255
)

// A captureError is the error for a function that uses too many variables of outer functions.
type captureError struct {
	line  int // where it begins, or a node
	count int
}

// Error returns the number of variables.
func (e *captureError) Error() string {
	return fmt.Sprintf("the function uses %d variables of enclosing functions, the limit is %d", e.count, maxCaptured)
}

// compile makes code of a syntax tree.
func compile(stmts []ast.Stmt, name string) (*lua.FunctionProto, error) {
	fixCompilerBugs(stmts)
	proto, err := lua.Compile(stmts, name)
	if err == nil {
		err = checkCaptured(proto)
	}
	if err != nil {
		return nil, err
	}
	placeInstructions(proto)
	shrink(proto)
	return proto, nil
}

// checkCaptured returns the error for a function that uses too many variables of outer functions:
// gopher-lua counts them in a byte.
func checkCaptured(proto *lua.FunctionProto) error {
	if n := len(proto.DbgUpvalues); n > maxCaptured {
		return &captureError{proto.LineDefined, n}
	}
	for _, inner := range proto.FunctionPrototypes {
		if err := checkCaptured(inner); err != nil {
			return err
		}
	}
	return nil
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
	if captured, ok := errors.AsType[*captureError](err); ok {
		e.Hint = "put the variables into a table"
		e.Pos = c.find(captured.line, func(n ast.PositionHolder) bool { _, ok := n.(*ast.FunctionExpr); return ok })
		return e
	}
	ce, ok := errors.AsType[*lua.CompileError](err)
	if !ok {
		return e
	}
	e.Err = errors.New(ce.Message)
	if ce.Line > 0 && ce.Line < nodeBase {
		e.Pos.Line = ce.Line
	} else if ce.Line >= nodeBase {
		e.Pos = rp.source.exactPos(ce.Line)
	}
	for _, rule := range []struct {
		message string
		explain func(parts []string)
	}{
		{"%too many local variables%", func([]string) { c.explainRegisters(e) }},
		{"register overflow", func([]string) { c.explainRegisters(e) }},
		{"too many constants", func([]string) {
			e.Err = diag.TooMany("different strings and numbers in one function")
			e.Hint = "split it into several functions"
		}},
		{"no visible label '%' for <goto> at line %", func(parts []string) {
			e.Err = diag.NotFound("label", parts[0], nil)
			line, _ := number(parts[1])
			e.Pos = c.find(line, func(n ast.PositionHolder) bool { g, ok := n.(*ast.GotoStmt); return ok && g.Label == parts[0] })
		}},
		{"label '%' already defined on line %", func(parts []string) {
			e.Err = diag.Duplicate("label ::%s::, first defined on line %s", parts[0], parts[1])
			e.Pos = c.find(e.Pos.Line-1, func(n ast.PositionHolder) bool { l, ok := n.(*ast.LabelStmt); return ok && l.Name == parts[0] })
		}},
		{"<goto %> at line % jumps into the scope of local '%'", func(parts []string) {
			e.Err = diag.SubjectCannot("goto "+parts[0], "jump into the scope of the local %s", parts[2])
			line, _ := number(parts[1])
			e.Pos = c.find(line, func(n ast.PositionHolder) bool { g, ok := n.(*ast.GotoStmt); return ok && g.Label == parts[0] })
		}},
		{"cannot use '...' outside a vararg function", func([]string) {
			e.Err = diag.Unexpected("... in a function without ... in its parameters")
			e.Pos = c.find(e.Pos.Line, func(n ast.PositionHolder) bool { _, ok := n.(*ast.Comma3Expr); return ok })
		}},
		{"no loop to break", func([]string) { e.Err = diag.Unexpected("break outside of a loop") }},
	} {
		if parts, ok := match(ce.Message, rule.message); ok {
			rule.explain(parts)
			break
		}
	}
	return e
}

// explainRegisters fills e with the reason why the compiler ran out of registers.
func (c *chunk) explainRegisters(e *diag.Error) {
	p := excessLocal(c.tree())
	if p.Line > 0 {
		e.Err = diag.TooMany("local variables: the limit is %d per function", maxLocals)
		e.Hint = "put the variables into a table, or enclose parts of the code in do ... end"
	} else {
		p = deepest(c.tree())
		e.Err = diag.Too("the expression", "long or nested too deeply")
		e.Hint = "split it, or join many strings with table.concat"
	}
	p.File = c.name
	e.Pos = p
}

// deepest returns the place of the statement with the expression that is nested deepest.
func deepest(t *syntax.Tree) diag.Pos {
	var found, statement ast.PositionHolder
	depth, most := 0, -1
	w := syntax.Walker{
		Enter: func(n ast.PositionHolder) {
			if _, ok := n.(ast.Stmt); ok {
				statement, depth = n, 0
				return
			}
			if depth++; depth > most {
				found, most = statement, depth
			}
		},
		Leave: func(n ast.PositionHolder) {
			if _, ok := n.(ast.Stmt); !ok {
				depth--
			}
		},
	}
	w.Stmts(t.Stmts)
	if found == nil {
		return diag.Pos{Line: 1}
	}
	p := t.PosOf(found)
	return diag.Pos{Line: max(1, p.Line), Col: p.Col}
}

// find returns the place of the first node in a line that is wanted, or of the
// line.
func (c *chunk) find(line int, wanted func(ast.PositionHolder) bool) diag.Pos {
	pos := diag.Pos{File: c.name, Line: line}
	t := c.tree()
	w := syntax.Walker{Enter: func(n ast.PositionHolder) {
		if pos.Col == 0 && wanted(n) {
			if p := t.PosOf(n); p.Line == line {
				pos.Col, pos.Len = p.Col, p.Len
			}
		}
	}}
	w.Stmts(t.Stmts)
	return pos
}

// excessLocal returns the place of the first local variable that is one too many
// for its function, or nowhere.
func excessLocal(t *syntax.Tree) diag.Pos {
	var found diag.Pos
	var method *ast.FunctionExpr
	var loop ast.PositionHolder // whose scope opens next
	loopLocals := 0
	count, outer := 0, []int{}
	more := func(n int, at ast.PositionHolder) {
		if count += n; count > maxLocals && found.Line == 0 {
			found = t.PosOf(at)
		}
	}
	w := syntax.Walker{
		Enter: func(n ast.PositionHolder) {
			switch n := n.(type) {
			case *ast.FunctionExpr:
				outer = append(outer, count)
				count = 0
				parameters := len(n.ParList.Names)
				if method == n {
					parameters++ // self
				}
				if n.ParList.HasVargs {
					parameters++ // arg
				}
				more(parameters, n)
			case *ast.FuncDefStmt:
				if n.Name.Func == nil {
					method = n.Func
				}
			case *ast.NumberForStmt:
				loop, loopLocals = n, 4 // three are hidden
			case *ast.GenericForStmt:
				loop, loopLocals = n, 3+len(n.Names)
			case *ast.LocalAssignStmt:
				more(len(n.Names), n)
			}
		},
		Leave: func(n ast.PositionHolder) {
			if _, ok := n.(*ast.FunctionExpr); ok {
				count = outer[len(outer)-1]
				outer = outer[:len(outer)-1]
			}
		},
	}
	var scopes []int
	w.Scope = func(open bool) {
		if open {
			scopes = append(scopes, count)
			if loop != nil {
				more(loopLocals, loop)
				loop = nil
			}
			return
		}
		count = scopes[len(scopes)-1]
		scopes = scopes[:len(scopes)-1]
	}
	w.Stmts(t.Stmts)
	return found
}
