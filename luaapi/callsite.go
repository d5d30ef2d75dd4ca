package luaapi

import (
	"strconv"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/luaapi/syntax"
	"github.com/luaccm/ccm/runtime/resource"
)

// Making a table, filling it and walking it again costs more than all else about a
// declaration. So where a declaration is written out,
//
//	file { "/etc/" .. name, content = text, owner = "root" }
//
// no table is made: the call is compiled as a call of declareAtCallSite, whose arguments are
// the values that are not constants,
//
//	declareAtCallSite(file, NUMBER, "/etc/" .. name, text)
//
// where NUMBER is the index in chunk.callSites,
// and the rest is read from the syntax tree. The order of evaluation and the positions in
// messages are the same. Without it, a run that finds 1,000 files unchanged takes 1.17 times the
// processor time (21 pairs of runs).

// A callSite is a call in a text that declares resources of one type without a table.
type callSite struct {
	typ         *resource.Type
	constructor lua.LValue
	fields      []*ast.Field
	nilable     []nilableField
	node        int // the number of the call in the syntax tree
	// repeatable: the call is in a loop or behind a label, so that it may run more than once.
	// unused: nothing is done with its handles.
	inFunction, repeatable, unused bool
	// locator is the locator of the last resource. Most resources share it with the next one.
	locator *locator
}

// maxArguments is the largest number of values at a call site: each needs a register.
const maxArguments = 64

// findCallSites finds the declarations that are call sites, and rewrites each as a call of
// declareAtCallSite. The line of a node is its number by now ([chunk.numberNodes]).
func (d *rewriter) findCallSites(stmts []ast.Stmt) {
	types := make(map[string]*resource.Type, len(d.ev.types))
	for _, t := range d.ev.types {
		types[t.Name] = t
	}
	type siteCall struct {
		call *ast.FuncCallExpr
		*callSite
	}
	var all []siteCall
	var statement ast.Expr
	depth, loops := 0, 0
	w := syntax.Walker{
		Enter: func(n ast.PositionHolder) {
			switch n := n.(type) {
			case *ast.FunctionExpr:
				depth++
			case *ast.WhileStmt, *ast.RepeatStmt, *ast.NumberForStmt, *ast.GenericForStmt:
				loops++
			case *ast.LabelStmt:
				loops++ // to the end of the text: a goto may lead back here
			case *ast.FuncCallStmt:
				statement = n.Expr
			case *ast.FuncCallExpr:
				if id, ok := n.Func.(*ast.IdentExpr); ok && types[id.Value] != nil && !d.c.curried(n.Line()) && declaresPlainly(n.Args) {
					all = append(all, siteCall{n, &callSite{typ: types[id.Value], node: n.Line(), inFunction: depth > 0, repeatable: loops > 0, unused: n == statement}})
				}
			}
		},
		Leave: func(n ast.PositionHolder) {
			switch n.(type) {
			case *ast.FunctionExpr:
				depth--
			case *ast.WhileStmt, *ast.RepeatStmt, *ast.NumberForStmt, *ast.GenericForStmt:
				loops--
			}
		},
		Word: func(name string, local bool) {
			if local {
				delete(types, name) // it may be that variable
			}
		},
	}
	w.Stmts(stmts)
	fn := -1
	for _, f := range all {
		if types[f.typ.Name] == nil {
			continue
		}
		// The compiler knows no Go functions: a marked string stands for this one until
		// rewriter.insert replaces it in the compiled text.
		if fn < 0 {
			fn = d.addFunction(d.declarer.declareAtCallSite(d.c))
		}
		f.constructor = global(d.ev.vm, f.typ.Name)
		f.fields = f.call.Args[0].(*ast.TableExpr).Fields
		number := &ast.NumberExpr{Value: strconv.Itoa(len(d.c.callSites))}
		number.SetLine(f.node)
		f.call.Args = []ast.Expr{f.call.Func, number}
		f.nilable = d.c.nilable[f.node]
		for _, field := range f.fields {
			if isConstant(field.Value) {
				continue
			}
			f.call.Args = append(f.call.Args, field.Value)
			for i := range f.nilable {
				if w := &f.nilable[i]; field.Key != nil && w.key == syntax.KeyOf(field) {
					w.arg = len(f.call.Args) // arguments are counted from 1
				}
			}
		}
		f.call.Func = d.placeholder(fn)
		d.c.callSites = append(d.c.callSites, f.callSite)
	}
}

// declaresPlainly reports whether a call with these arguments can be a call site.
func declaresPlainly(args []ast.Expr) bool {
	if len(args) != 1 {
		return false
	}
	t, ok := args[0].(*ast.TableExpr)
	if !ok || len(t.Fields) == 0 {
		return false
	}
	keys := make(map[string]bool, len(t.Fields))
	passed := 0
	for i, f := range t.Fields {
		switch v := f.Value.(type) {
		case *ast.NilExpr:
			return false
		case *ast.FuncCallExpr:
			if f.Key == nil && i == len(t.Fields)-1 && !v.AdjustRet {
				return false // each of its values is a name
			}
		case *ast.Comma3Expr:
			if f.Key == nil && i == len(t.Fields)-1 && !v.AdjustRet {
				return false
			}
		}
		if !isConstant(f.Value) {
			passed++
		}
		if f.Key == nil {
			continue
		}
		key, ok := f.Key.(*ast.StringExpr)
		if !ok || keys[key.Value] {
			return false
		}
		keys[key.Value] = true
	}
	return passed <= maxArguments
}

// isConstant reports whether the value can be read from the syntax tree.
func isConstant(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.StringExpr, *ast.TrueExpr, *ast.FalseExpr:
		return true
	case *ast.NumberExpr:
		_, ok := numberOf(e.Value)
		return ok
	}
	return false
}

// arguments are the unread values passed to a call site.
type arguments struct {
	L    *lua.LState
	next int
}

// value returns the value of the next field of a call site.
func (a *arguments) value(f *ast.Field) lua.LValue {
	switch e := f.Value.(type) {
	case *ast.StringExpr:
		return lua.LString(e.Value)
	case *ast.TrueExpr:
		return lua.LTrue
	case *ast.FalseExpr:
		return lua.LFalse
	case *ast.NumberExpr:
		if n, ok := numberOf(e.Value); ok {
			return n.(lua.LValue)
		}
	}
	a.next++
	return a.L.Get(a.next - 1)
}

// firstArgument is the index of the first value passed to a call site.
const firstArgument = 3

// declareAtCallSite returns the function that is called at the call sites of c. It reads the
// values into a buffer and declares the resources.
func (dc *declarer) declareAtCallSite(c *chunk) lua.LGFunction {
	return func(L *lua.LState) int {
		number := int(L.Get(2).(lua.LNumber))
		s := c.callSites[number]
		if c.script && !s.inFunction && !s.repeatable {
			c.callSites[number] = nil // its part of the syntax tree is needed no more
		}
		if L.Get(1) != s.constructor {
			return s.callOther(L)
		}
		w := dc.takeBuffer()
		w.begin(s.typ)
		names := w.names[:0]
		args := arguments{L, firstArgument}
		for _, field := range s.fields {
			if field.Key == nil {
				name := args.value(field)
				if name == lua.LNil {
					dc.free = w
					return s.callOther(L) // only a table tells how many names there are
				}
				names = append(names, name)
				continue
			}
			key := field.Key.(*ast.StringExpr).Value
			if text, ok := field.Value.(*ast.StringExpr); ok {
				w.add(key, dc.convert.text(text.Value))
			} else if v := args.value(field); v != lua.LNil {
				w.add(key, dc.convert.property(v))
			}
		}
		w.names = names
		f := frame{node: s.node, file: c.name, main: true}
		if s.inFunction || !c.script {
			f = caller(L)
		}
		for i := range s.nilable {
			w := &s.nilable[i]
			if v := L.Get(w.arg); v == lua.LNil || w.inner != nil {
				dc.checkNilField(L, f, s.typ, w, nil, v)
			}
		}
		return dc.declare(L, f, s.typ, names, w, s)
	}
}

// callOther calls the value that a script put in the place of the constructor with a table, and
// returns the number of results.
func (s *callSite) callOther(L *lua.LState) int {
	t := L.NewTable()
	args := arguments{L, firstArgument}
	n := 0
	for _, field := range s.fields {
		if v := args.value(field); field.Key != nil {
			t.RawSetString(field.Key.(*ast.StringExpr).Value, v)
		} else {
			n++
			t.RawSetInt(n, v)
		}
	}
	top := L.GetTop()
	L.Push(L.Get(1))
	L.Push(t)
	L.Call(1, lua.MultRet)
	return L.GetTop() - top
}
