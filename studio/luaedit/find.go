package luaedit

import (
	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/luaapi/syntax"
)

// find lists the calls of names with a table or a text.
func (s *Script) find() {
	blocks, repeats, statement := 0, 0, -1
	inner := make(map[ast.Expr]bool) // calls that are part of another call
	for i, st := range s.layout.Statements {
		statement = i
		count := func(n ast.PositionHolder, by int) {
			switch n.(type) {
			case *ast.IfStmt, *ast.DoBlockStmt:
				blocks += by
			case *ast.FunctionExpr, *ast.WhileStmt, *ast.RepeatStmt, *ast.NumberForStmt, *ast.GenericForStmt:
				repeats += by
			}
		}
		syntax.Walk([]ast.Stmt{st}, func(n ast.PositionHolder) {
			count(n, 1)
			call, isCall := n.(*ast.FuncCallExpr)
			if !isCall {
				return
			}
			if f, isCall := call.Func.(*ast.FuncCallExpr); isCall {
				inner[f] = true
			}
			if inner[call] {
				return
			}
			if c, ok := s.call(call); ok {
				c.Block, c.Repeats, c.statement = blocks > 0, repeats > 0, -1
				if callOf(st) == call {
					c.statement = statement
				}
				s.Calls = append(s.Calls, c)
			}
		}, func(n ast.PositionHolder) { count(n, -1) })
	}
}

// callOf returns the call that a statement consists of, alone or assigned to one variable.
func callOf(st ast.Stmt) *ast.FuncCallExpr {
	var e ast.Expr
	switch st := st.(type) {
	case *ast.FuncCallStmt:
		e = st.Expr
	case *ast.LocalAssignStmt:
		if len(st.Exprs) == 1 {
			e = st.Exprs[0]
		}
	case *ast.AssignStmt:
		if len(st.Rhs) == 1 {
			e = st.Rhs[0]
		}
	}
	call, _ := e.(*ast.FuncCallExpr)
	return call
}

// call returns a call with its parts. ok is false unless it is a call of a name with a table or a
// text.
func (s *Script) call(e *ast.FuncCallExpr) (Call, bool) {
	c := Call{expr: e, table: syntax.TableArg(e), ok: true}
	if !c.setFunc(e) {
		return c, false
	}
	from, to, ok := s.layout.Span(e)
	c.Span, c.ok = Span{from, to}, ok
	s.argumentNames(&c, e)
	if c.table == nil && len(c.Names) == 0 {
		return c, false
	}
	if c.table != nil {
		s.tableFields(&c)
	}
	return c, true
}

// setFunc finds the name of the called function: f, m.f and std.m.f, also in f "x" { }.
func (c *Call) setFunc(e *ast.FuncCallExpr) bool {
	if f, isCall := e.Func.(*ast.FuncCallExpr); isCall {
		e = f
	}
	switch f := e.Func.(type) {
	case *ast.IdentExpr:
		c.Func = f.Value
		return true
	case *ast.AttrGetExpr:
		object, isName := f.Object.(*ast.IdentExpr)
		if shipped, isField := f.Object.(*ast.AttrGetExpr); isField { // std.line.defaults is line.defaults
			std, _ := shipped.Object.(*ast.IdentExpr)
			if name, isText := shipped.Key.(*ast.StringExpr); isText && std != nil && std.Value == "std" {
				object, isName = &ast.IdentExpr{Value: name.Value}, true
			}
		}
		key, isText := f.Key.(*ast.StringExpr)
		if isName && isText {
			c.Module, c.Func = object.Value, key.Value
			return true
		}
	}
	return false
}

// argumentNames finds the names that stand before the table: file "/a" { } and file("/a", { }).
func (s *Script) argumentNames(c *Call, e *ast.FuncCallExpr) {
	args := e.Args
	if f, isCall := e.Func.(*ast.FuncCallExpr); isCall {
		args = f.Args
	}
	if len(args) == 0 || args[0] == ast.Expr(c.table) {
		return
	}
	if list, isTable := args[0].(*ast.TableExpr); isTable {
		for _, f := range list.Fields {
			if f.Key == nil {
				s.addName(c, f.Value, -1)
			}
		}
		return
	}
	s.addName(c, args[0], -1)
}

func (s *Script) addName(c *Call, e ast.Expr, field int) {
	from, to, ok := s.layout.Span(e)
	n := Name{expr: e, field: field, Span: Span{from, to}}
	if text, isText := e.(*ast.StringExpr); isText {
		n.Value, n.Literal = text.Value, true
	} else if ok {
		n.Value = s.Text[from:to]
	}
	c.ok = c.ok && ok
	c.Names = append(c.Names, n)
}

// tableFields finds the fields of the table of a call.
func (s *Script) tableFields(c *Call) {
	places, ok := s.places(c.table)
	if c.ok = c.ok && ok; !c.ok {
		return
	}
	for i, f := range c.table.Fields {
		span := Span{s.layout.Words[places[i].value].From, s.layout.Words[places[i].last].To}
		if f.Key == nil {
			s.addName(c, f.Value, i)
			c.Names[len(c.Names)-1].Span = span
			if n := &c.Names[len(c.Names)-1]; !n.Literal {
				n.Value = s.Text[span.From:span.To]
			}
			continue
		}
		out := Field{field: f, Span: span}
		if key, isText := f.Key.(*ast.StringExpr); isText {
			out.Name = key.Value
		}
		out.Value, out.Literal = Value(f.Value)
		c.Fields = append(c.Fields, out)
	}
}

// places finds the words of the fields of a table.
func (s *Script) places(t *ast.TableExpr) ([]fieldPlace, bool) {
	open, ok := s.layout.First(t)
	if !ok {
		return nil, false
	}
	words, closing := s.layout.Words, s.layout.Close(open)
	var out []fieldPlace
	p := fieldPlace{first: open + 1, value: open + 1, comma: -1}
	for i := open + 1; i <= closing; i++ {
		switch typ := words[i].Type; {
		case i == closing, typ == ',', typ == ';':
			if i > p.first {
				p.last, p.comma = i-1, i
				if i == closing {
					p.comma = -1
				}
				out = append(out, p)
			}
			p = fieldPlace{first: i + 1, value: i + 1, comma: -1}
		case typ == '=' && p.value == p.first:
			p.value = i + 1
		default:
			i = s.layout.Close(i) // skip the content of brackets and functions
		}
	}
	return out, len(out) == len(t.Fields)
}
