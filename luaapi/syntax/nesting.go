package syntax

import (
	"fmt"
	"strings"

	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"

	"github.com/luaccm/ccm/runtime/diag"
)

// The compiler calls itself for each level of a syntax tree, and for some trees its time grows
// with the square of their depth. So a text is refused before compilation if its tree is deeper
// than that of any script that people write.
const (
	// maxNesting is the largest number of nested blocks, functions, tables and calls. Lua itself
	// has the same limit.
	maxNesting = 200
	// maxChain is the largest number of consecutive operators or elseif.
	maxChain = 2000
	// maxJumps is the largest number of goto and labels: each is searched for among all others.
	maxJumps = 2000
	// maxBrackets is the largest number of nested brackets in a text that is parsed at all.
	maxBrackets = 100_000
	// maxText is the size limit of a script, in bytes.
	maxText = 64 << 20
)

// ParseTree is parse.Parse with limits of length and nesting. A text beyond them is a
// [*diag.Error].
func ParseTree(text, name string) ([]ast.Stmt, error) {
	switch {
	case len(text) > maxText:
		return nil, diag.At(diag.Pos{File: name, Line: 1},
			diag.With("the script", diag.MustBe("at most %d bytes", maxText).Got("%d", len(text))))
	case nestedTooDeep(text):
		return nil, diag.At(diag.Pos{File: name, Line: 1}, diag.Expected("fewer than %d nested brackets", maxBrackets))
	}
	stmts, err := parse.Parse(strings.NewReader(text), name)
	if err != nil {
		return nil, err
	}
	if e := checkDepth(name, stmts); e != nil {
		return nil, e
	}
	return stmts, nil
}

// nestedTooDeep reports whether a text may have too many nested brackets. Brackets in strings
// count too: no script that people write comes near.
func nestedTooDeep(text string) bool {
	if strings.Count(text, "(")+strings.Count(text, "[")+strings.Count(text, "{") <= maxBrackets {
		return false
	}
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '(', '[', '{':
			if depth++; depth > maxBrackets {
				return true
			}
		case ')', ']', '}':
			depth = max(0, depth-1)
		}
	}
	return false
}

// A nestingCheck measures a syntax tree.
type nestingCheck struct {
	levels []level // of what is being visited
	nested int     // levels that stand inside one another
	jumps  int
	fault  *diag.Error
}

// A level is a node around the visited one.
type level struct {
	node ast.PositionHolder
	nest bool // it counts as nested
	run  int  // number of consecutive operators or elseif, of which it is the last
}

// checkDepth returns the mistake that a syntax tree is too deep, or nil.
func checkDepth(file string, stmts []ast.Stmt) *diag.Error {
	d := nestingCheck{levels: make([]level, 1, 64)}
	w := &Walker{}
	*w = Walker{
		Enter: func(n ast.PositionHolder) { w.Stopped = w.Stopped || !d.enter(n) },
		Leave: func(ast.PositionHolder) { d.leave() },
	}
	w.Stmts(stmts)
	if d.fault != nil {
		d.fault.Pos.File = file
	}
	return d.fault
}

// enter visits a node, and reports whether to go on.
func (d *nestingCheck) enter(n ast.PositionHolder) bool {
	around := d.levels[len(d.levels)-1]
	l := level{node: n}
	switch {
	case continues(around.node, n):
		l.run = around.run + 1
	case nests(n):
		l.nest = true
		d.nested++
	}
	switch n.(type) {
	case *ast.GotoStmt, *ast.LabelStmt:
		d.jumps++
	}
	d.levels = append(d.levels, l)
	switch {
	case d.nested > maxNesting:
		return d.fail(n, "split the code into functions", "more than %d nested blocks, functions, tables and calls", maxNesting)
	case l.run > maxChain:
		return d.fail(n, "put the values into a table", "more than %d operators or elseif in a row", maxChain)
	case d.jumps > maxJumps:
		return d.fail(n, "", "more than %d goto and labels", maxJumps)
	}
	return true
}

func (d *nestingCheck) leave() {
	last := len(d.levels) - 1
	if d.levels[last].nest {
		d.nested--
	}
	d.levels = d.levels[:last]
}

func (d *nestingCheck) fail(n ast.PositionHolder, hint, format string, args ...any) bool {
	d.fault = &diag.Error{Pos: diag.Pos{Line: n.Line()}, Err: fmt.Errorf(format, args...), Hint: hint}
	return false
}

// nests reports whether a node contains others, such as a block or a table.
func nests(n ast.PositionHolder) bool {
	switch n.(type) {
	case *ast.DoBlockStmt, *ast.WhileStmt, *ast.RepeatStmt, *ast.IfStmt, *ast.NumberForStmt, *ast.GenericForStmt,
		*ast.FunctionExpr, *ast.TableExpr, *ast.FuncCallExpr, *ast.AttrGetExpr:
		return true
	}
	return false
}

// continues reports whether a node continues the one around it rather than being nested in it: in
// a + b + c, in t.a.b.c, and in an if the next elseif.
func continues(around, n ast.PositionHolder) bool {
	switch a := around.(type) {
	case *ast.IfStmt:
		if len(a.Else) == 1 {
			return a.Else[0] == n
		}
	case *ast.AttrGetExpr:
		return a.Object == n
	case *ast.FuncCallExpr:
		return a.Func == n || a.Receiver == n
	}
	return isOperator(around) && isOperator(n)
}

func isOperator(n ast.PositionHolder) bool {
	switch n.(type) {
	case *ast.LogicalOpExpr, *ast.RelationalOpExpr, *ast.StringConcatOpExpr, *ast.ArithmeticOpExpr,
		*ast.UnaryMinusOpExpr, *ast.UnaryNotOpExpr, *ast.UnaryLenOpExpr:
		return true
	}
	return false
}
