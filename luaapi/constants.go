package luaapi

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/luaapi/syntax"
)

// gopher-lua's compiler looks for each constant of a function among all the
// others of it, one by one: a script that is one long table of data, or ten
// thousand declarations, takes seconds. Therefore, before a long text is
// compiled,
//
//   - a table of constants is taken out of it and made by this program when the
//     script comes to it (this file);
//   - a table that holds more than constants, and a series of calls and
//     assignments, are divided into functions that are called where they stand
//     (rewrite.go). They see the same local variables, and no message speaks of
//     them: the line of their call is [hiddenLine].
//
// Without it, a run that finds the 1,000 files of a table unchanged takes 1.39 times the processor time, and one with
// 1,000 declarations 1.05 times (21 pairs of runs).
//
// This also avoids a bug of gopher-lua, which loses the values of a
// list behind number 25,550.

const (
	// shortText is how long a text can be for which all this is not worth it.
	shortText = 8 << 10
	// manyConstants is how many constants make a function be divided, and
	// fewConstants how many its parts have at most, more or less.
	manyConstants = 256
	fewConstants  = 128
	// largeTable is how many constants a table has that is taken out.
	largeTable = 32
)

// hiddenLine is the line of a call that no message speaks of.
const hiddenLine = -1

// compile makes code of a syntax tree.
func (d *rewriter) compile(stmts []ast.Stmt) (*lua.FunctionProto, error) {
	stmts = d.function(stmts)
	proto, err := compile(stmts, d.c.name)
	if lacksRegisters(err) && excessLocal(d.c.tree()).Line == 0 {
		proto, err = compile(spill(stmts), d.c.name)
	}
	if err != nil {
		return nil, err
	}
	if len(d.functions) > 0 {
		d.insert(proto)
	}
	return proto, nil
}

// placeholder returns the constant in whose place insert puts function number n.
func (d *rewriter) placeholder(n int) ast.Expr {
	return &ast.StringExpr{Value: d.prefix() + strconv.Itoa(n)}
}

// prefix begins the placeholders. No string of a script begins so by accident.
func (d *rewriter) prefix() string { return fmt.Sprintf("\x00ccm chunk %d function ", d.chunk) }

// insert replaces the placeholders in the constants of proto and of the
// functions in it.
func (d *rewriter) insert(proto *lua.FunctionProto) {
	prefix := d.prefix()
	for i, k := range proto.Constants {
		s, ok := k.(lua.LString)
		if !ok {
			continue
		}
		number, ok := strings.CutPrefix(string(s), prefix)
		if !ok {
			continue
		}
		if n, err := strconv.Atoi(number); err == nil && n < len(d.functions) {
			proto.Constants[i] = d.functions[n]
		}
	}
	for _, p := range proto.FunctionPrototypes {
		d.insert(p)
	}
}

// addFunction adds a function of this program that a text calls, and returns its number.
func (d *rewriter) addFunction(fn lua.LGFunction) int {
	d.functions = append(d.functions, d.ev.vm.NewFunction(fn))
	return len(d.functions) - 1
}

// call returns a call of a function of this program.
func (d *rewriter) call(fn lua.LGFunction, args ...ast.Expr) *ast.FuncCallExpr {
	e := &ast.FuncCallExpr{Func: d.placeholder(d.addFunction(fn)), Args: args, AdjustRet: true}
	e.SetLine(hiddenLine)
	return e
}

// A constantTable is a table of which all keys and values are constants.
type constantTable struct {
	items  []any // lua.LValue or *constantTable
	keys   []lua.LValue
	values []any
}

// make returns a new table.
func (c *constantTable) make(L *lua.LState) *lua.LTable {
	t := L.CreateTable(len(c.items), len(c.keys))
	for i, k := range c.keys {
		t.RawSet(k, constant(L, c.values[i]))
	}
	for i, item := range c.items {
		t.RawSetInt(i+1, constant(L, item))
	}
	return t
}

func constant(L *lua.LState, v any) lua.LValue {
	if c, ok := v.(*constantTable); ok {
		return c.make(L)
	}
	return v.(lua.LValue)
}

// constantOf returns the value of an expression if it is a constant: an
// lua.LValue or a *constantTable.
func constantOf(e ast.Expr) (any, bool) {
	switch e := e.(type) {
	case *ast.StringExpr:
		return lua.LString(e.Value), true
	case *ast.NumberExpr:
		return numberOf(e.Value)
	case *ast.TrueExpr:
		return lua.LTrue, true
	case *ast.FalseExpr:
		return lua.LFalse, true
	case *ast.NilExpr:
		return lua.LNil, true
	case *ast.UnaryMinusOpExpr:
		if n, ok := e.Expr.(*ast.NumberExpr); ok {
			v, ok := numberOf(n.Value)
			if ok {
				return -v.(lua.LNumber), true
			}
		}
	case *ast.TableExpr:
		if c := constantTableOf(e); c != nil {
			return c, true
		}
	}
	return nil, false
}

// numberOf reads a number as the compiler does.
func numberOf(text string) (any, bool) {
	if i, err := strconv.ParseInt(text, 0, lua.LNumberBit); err == nil {
		return lua.LNumber(i), true
	}
	f, err := strconv.ParseFloat(text, lua.LNumberBit)
	return lua.LNumber(f), err == nil
}

// constantTableOf returns the table that e always is, or nil.
func constantTableOf(e *ast.TableExpr) *constantTable {
	c := &constantTable{}
	for _, f := range e.Fields {
		v, ok := constantOf(f.Value)
		if !ok {
			return nil
		}
		if f.Key == nil {
			c.items = append(c.items, v)
			continue
		}
		k, ok := constantOf(f.Key)
		key, scalar := k.(lua.LValue)
		if !ok || !scalar || key == lua.LNil {
			return nil
		}
		c.keys, c.values = append(c.keys, key), append(c.values, v)
	}
	return c
}

// A weight measures what an expression or a list of statements adds to the
// function that it stands in: constants, without those of functions inside, and
// names, of which each may be a variable of the function around it (maxNames).
type weight struct {
	constants int
	names     map[string]bool
	varargs   bool // it uses the ... of the function
}

func weigh(visit func(w *syntax.Walker)) weight { return weighUpTo(math.MaxInt, visit) }

// weighUpTo is weigh that ends when there are more constants than most.
func weighUpTo(most int, visit func(w *syntax.Walker)) weight {
	var out weight
	inside := 0
	w := &syntax.Walker{}
	*w = syntax.Walker{
		Enter: func(n ast.PositionHolder) {
			w.Stopped = out.constants > most
			switch n := n.(type) {
			case *ast.FunctionExpr:
				inside++
			case *ast.IdentExpr:
				if out.names == nil {
					out.names = make(map[string]bool)
				}
				out.names[n.Value] = true // of functions inside too: it may be a variable around both
				if inside == 0 {
					out.constants++
				}
			case *ast.StringExpr, *ast.NumberExpr:
				if inside == 0 {
					out.constants++
				}
			case *ast.FuncCallExpr:
				if n.Func == nil && inside == 0 {
					out.constants++
				}
			case *ast.Comma3Expr:
				if inside == 0 {
					out.varargs = true
				}
			}
		},
		Leave: func(n ast.PositionHolder) {
			if _, ok := n.(*ast.FunctionExpr); ok {
				inside--
			}
		},
	}
	visit(w)
	return out
}

// isHeavy reports whether statements have more constants than a function should.
func isHeavy(stmts []ast.Stmt) bool {
	return weighUpTo(manyConstants, func(w *syntax.Walker) { w.Stmts(stmts) }).constants > manyConstants
}

func weighExpr(e ast.Expr) weight { return weigh(func(w *syntax.Walker) { w.Expr(e) }) }

func weighStmts(s ...ast.Stmt) weight { return weigh(func(w *syntax.Walker) { w.Stmts(s) }) }
