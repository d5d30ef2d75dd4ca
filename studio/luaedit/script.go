// Package luaedit changes calls of constructors in a Lua script, such as file { "/etc/motd",
// owner = "root" }, and leaves every other byte as it was. The places come from luaapi, which
// reads scripts for runs. Every edit is proven before it is returned: the new text is read again,
// and its tree has to be the old one but for what was asked for. Otherwise the error is [ErrShape].
package luaedit

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/textedit/splice"
)

// Why edits are refused.
var (
	ErrShape = errors.New("this place cannot be edited without changing what is around it")
	ErrPath  = errors.New("there is no such place")
)

// A Splice replaces a range of bytes.
type Splice = splice.Splice

// A Span is a range of bytes.
type Span struct{ From, To int }

// A Script is a text and the calls in it. It is never changed.
type Script struct {
	Text  string
	Calls []Call // in the order of the text

	layout *luaapi.Layout
	starts []int // where lines begin
}

// A Call is a call of a constructor.
type Call struct {
	Func   string // the name of what is called; of line.file the name behind the dot
	Module string // of line.file the name before the dot
	Span   Span
	Names  []Name
	Fields []Field // those with a name or a key
	// Block says that it is in a condition or a block, and Repeats in a loop or a function, where
	// it may run any number of times.
	Block, Repeats bool

	expr      *ast.FuncCallExpr
	table     *ast.TableExpr // nil if it has none
	statement int            // the index of its statement outside of all others, -1 if it is no statement there
	ok        bool           // all places are known
}

// A Name is one of the names that a call declares.
type Name struct {
	Value   string // what it is, or how it stands in the text if it is not literal
	Literal bool
	Span    Span

	expr  ast.Expr
	field int // its index in the table, -1 if it is an argument
}

// A Field is one field of the table of a call.
type Field struct {
	Name    string // "" if its key is an expression
	Value   any    // as Script.Value returns it
	Literal bool
	Span    Span // of the value

	field *ast.Field
	place fieldPlace
}

// A fieldPlace is where a field stands: the words of it, of its value, and the comma behind it.
type fieldPlace struct{ first, value, last, comma int } // comma is -1 if there is none

// Parse reads a script. The error is a *diag.Error.
func Parse(name, text string) (*Script, error) {
	l, err := luaapi.ReadLayout(name, text)
	if err != nil {
		return nil, err
	}
	s := &Script{Text: text, layout: l, starts: []int{0}}
	for i := range len(text) {
		if text[i] == '\n' {
			s.starts = append(s.starts, i+1)
		}
	}
	s.find()
	return s, nil
}

// find lists the calls of names with a table or a text.
func (s *Script) find() {
	blocks, repeats, statement := 0, 0, -1
	inner := make(map[ast.Expr]bool) // calls that another call is made of
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
		luaapi.Walk([]ast.Stmt{st}, func(n ast.PositionHolder) {
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

// callOf returns the call that a statement consists of, alone or given to one variable.
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

// call returns a call with its parts. It is false if it is none of a name with a table or a text.
func (s *Script) call(e *ast.FuncCallExpr) (Call, bool) {
	c := Call{expr: e, table: luaapi.TableOf(e), ok: true}
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

// setFunc finds the name of what is called: f, m.f, also in f "x" { }.
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
		out := Field{field: f, place: places[i], Span: span}
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
			i = s.layout.Close(i) // what is in brackets and in functions
		}
	}
	return out, len(out) == len(t.Fields)
}

// Value returns what an expression is if that is known without evaluating anything: nil, bool,
// int64, float64, string, []any and map[string]any.
func Value(e ast.Expr) (any, bool) {
	switch e := e.(type) {
	case *ast.NilExpr:
		return nil, true
	case *ast.TrueExpr:
		return true, true
	case *ast.FalseExpr:
		return false, true
	case *ast.StringExpr:
		return e.Value, true
	case *ast.NumberExpr:
		return number(e.Value)
	case *ast.UnaryMinusOpExpr:
		switch v, _ := Value(e.Expr); v := v.(type) {
		case int64:
			return -v, true
		case float64:
			return -v, true
		}
	case *ast.TableExpr:
		return table(e)
	}
	return nil, false
}

// number returns a number as it is written in Lua.
func number(text string) (any, bool) {
	if i, err := strconv.ParseInt(text, 0, 64); err == nil && (!strings.HasPrefix(text, "0") || len(text) == 1 || strings.HasPrefix(strings.ToLower(text), "0x")) {
		return i, i>>53 == 0 // Lua has no other whole numbers
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, false
	}
	if i := int64(f); float64(i) == f && i>>53 == 0 {
		return i, true
	}
	return f, true
}

// table returns a table of values: a list, or a map with names.
func table(e *ast.TableExpr) (any, bool) {
	list, named := []any{}, make(map[string]any)
	for _, f := range e.Fields {
		v, ok := Value(f.Value)
		if !ok {
			return nil, false
		}
		if f.Key == nil {
			list = append(list, v)
			continue
		}
		key, isText := f.Key.(*ast.StringExpr)
		if !isText {
			return nil, false
		}
		named[key.Value] = v
	}
	switch {
	case len(named) == 0:
		return list, true
	case len(list) == 0:
		return named, true
	}
	return nil, false
}

// Place returns the line and the column of an offset, both from 1, the column in bytes.
func (s *Script) Place(at int) (line, column int) {
	i, found := slices.BinarySearch(s.starts, at)
	if !found {
		i--
	}
	return i + 1, at - s.starts[i] + 1
}

// A Rest is what a statement outside of all others says besides some calls in it, its words with
// a blank between them: of if port then file { "/a" } end it is if port then end.
type Rest struct {
	Words string
	Line  int
	Calls []int // the numbers of those calls
}

// Rests returns the rests of all statements in which anything is left without the calls that is
// tells.
func (s *Script) Rests(is func(call int) bool) []Rest {
	words := s.layout.Words
	var out []Rest
	next, call := 0, 0
	for i := range s.layout.Statements {
		end := len(words)
		if i+1 < len(s.layout.Statements) {
			if first, ok := s.firstWord(s.layout.Statements[i+1]); ok {
				end = max(first, next)
			}
		}
		var rest Rest
		var text []string
		for w := next; w < end; w++ {
			for call < len(s.Calls) && (s.Calls[call].Span.From < words[w].From || s.Calls[call].Span.From == words[w].From && !is(call)) {
				call++
			}
			if call < len(s.Calls) && s.Calls[call].Span.From == words[w].From {
				rest.Calls = append(rest.Calls, call)
				for w+1 < end && words[w+1].To <= s.Calls[call].Span.To {
					w++
				}
				continue
			}
			if word := s.Text[words[w].From:words[w].To]; word != ";" {
				text = append(text, word)
			}
		}
		if len(text) > 0 && next < end {
			rest.Words = strings.Join(text, " ")
			rest.Line, _ = s.Place(words[next].From)
			out = append(out, rest)
		}
		next = end
	}
	return out
}

// A Comment is one comment of a script.
type Comment struct {
	Text string
	Line int
}

// Comments returns the comments of the script.
func (s *Script) Comments() []Comment {
	var out []Comment
	at := 0
	for _, w := range append(s.layout.Words, luaapi.Word{From: len(s.Text), To: len(s.Text)}) {
		if gap := s.Text[at:w.From]; strings.Contains(gap, "--") {
			line, _ := s.Place(at + strings.Index(gap, "--"))
			out = append(out, Comment{strings.TrimSpace(gap), line})
		}
		at = w.To
	}
	return out
}
