package lint

import (
	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/schema"
)

// The content of a local variable is known if the script writes it literally and nothing else can
// change it: a table whose fields are only read and set, or a variable that is never assigned to. A
// property is nil in every run if its value is a field that such a table does not have.

// tableUse records the use of the table in a variable.
type tableUse struct {
	table    *ast.TableExpr  // the literal table, or nil
	noValue  bool            // declared without a value
	assigned bool            // assigned to later
	escaped  bool            // other code may change the table
	volatile map[string]bool // fields that may change
	values   []givenValue
}

// A givenValue is a property that was given a variable or a field of one.
type givenValue struct {
	expr    ast.Expr
	keys    []string // the fields that lead to the value
	path    schema.Path
	subject string
	pos     diag.Pos
}

// learn records the initial values of a statement's variables.
func (v *variable) learn(st *ast.LocalAssignStmt, i int) {
	switch {
	case i < len(st.Exprs):
		v.use.table, _ = st.Exprs[i].(*ast.TableExpr)
	case len(st.Exprs) == 0:
		v.use.noValue = true
	}
}

// touch notes that a field may have any value anywhere in the script.
func (v *variable) touch(key string) {
	if v.use.volatile == nil {
		v.use.volatile = make(map[string]bool)
	}
	v.use.volatile[key] = true
}

// chain returns the local variable and the fields that lead to e, or nil if a part of the path is
// not literal.
func (s *scan) chain(e ast.Expr) (*variable, []string) {
	switch e := e.(type) {
	case *ast.IdentExpr:
		return s.lookup(e.Value), nil
	case *ast.AttrGetExpr:
		key, ok := e.Key.(*ast.StringExpr)
		if v, keys := s.chain(e.Object); ok && v != nil {
			return v, append(keys, key.Value)
		}
	}
	return nil, nil
}

// readField records a read of a field. It is false if e is no field of a local variable.
func (s *scan) readField(e *ast.AttrGetExpr) bool {
	v, keys := s.chain(e)
	if v == nil {
		return false
	}
	v.used = true
	if value, found := v.use.find(keys); found {
		if _, ok := value.(*ast.TableExpr); ok {
			v.touch(keys[0]) // a function that gets the table may change its fields
		}
	}
	return true
}

// setField records an assignment to a field. It is false if e is no field of a local variable.
func (s *scan) setField(e ast.Expr) bool {
	v, keys := s.chain(e)
	if v == nil || len(keys) == 0 {
		return false
	}
	v.used = true
	v.touch(keys[0])
	return true
}

// give notes that a property is given a variable or a field of one.
func (d *declaration) give(f *ast.Field, name string) {
	if !luaapi.MayBeNil(f.Value) {
		return
	}
	if v, keys := d.s.chain(f.Value); v != nil {
		v.use.values = append(v.use.values, givenValue{f.Value, keys, schema.Path{name}, d.subject(), d.s.p.Pos(f.Value)})
	}
}

// nils reports the properties whose value is nil in every run. It is called when
// all uses of the variable have been seen.
func (s *scan) nils(v *variable) {
	k := &v.use
	for _, g := range k.values {
		text := luaapi.Show(g.expr)
		e := &diag.Error{Pos: g.pos, Subject: g.subject, Err: luaapi.GivenAsNil(g.path, text), Hint: luaapi.OptionalHint(text)}
		if len(g.keys) == 0 {
			if !k.noValue || k.assigned {
				continue
			}
		} else {
			if k.table == nil || k.assigned || k.escaped || k.volatile[g.keys[0]] {
				continue
			}
			value, found := k.find(g.keys)
			if _, isNil := value.(*ast.NilExpr); !found || value != nil && !isNil {
				continue
			}
			if hint := diag.DidYouMean(g.keys[len(g.keys)-1], k.names(g.keys[:len(g.keys)-1])); hint != "" {
				e.Hint = hint
			}
		}
		s.findings = append(s.findings, Finding{NilProperty, e})
	}
}

// find returns the expression at keys, nil if there is none. It is false if that is unknown.
func (k *tableUse) find(keys []string) (ast.Expr, bool) {
	var e ast.Expr = k.table
	for _, key := range keys {
		t, ok := e.(*ast.TableExpr)
		if !ok || t == nil {
			return nil, false
		}
		e = nil
		for _, f := range t.Fields {
			switch name := f.Key.(type) {
			case nil:
			case *ast.StringExpr:
				if name.Value == key {
					e = f.Value
				}
			default:
				return nil, false
			}
		}
	}
	return e, true
}

// names returns the fields of the table at keys.
func (k *tableUse) names(keys []string) (names []string) {
	e, _ := k.find(keys)
	if t, ok := e.(*ast.TableExpr); ok {
		for _, f := range t.Fields {
			if name, ok := f.Key.(*ast.StringExpr); ok {
				names = append(names, name.Value)
			}
		}
	}
	return names
}
