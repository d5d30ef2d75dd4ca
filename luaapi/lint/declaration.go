package lint

import (
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// constructor returns the type that a call declares, and whether the call sets defaults of the
// type.
func (s *scan) constructor(call *ast.FuncCallExpr) (t *resource.Type, defaults bool) {
	switch fn := call.Func.(type) {
	case *ast.IdentExpr:
		return s.typeOf(fn), false
	case *ast.FuncCallExpr: // file "/etc/motd" { ... }
		return s.typeOf(fn.Func), false
	case *ast.AttrGetExpr:
		if key, ok := fn.Key.(*ast.StringExpr); ok && key.Value == "defaults" {
			return s.typeOf(fn.Object), true
		}
		return s.typeOf(fn), false
	}
	return nil, false
}

// declaration checks the properties of a resource, if the call declares one.
func (s *scan) declaration(call *ast.FuncCallExpr) {
	t, defaults := s.constructor(call)
	if t == nil {
		return
	}
	d := declaration{s: s, call: call, t: t, defaults: defaults}
	d.read()
	d.values()
	d.references()
	if defaults {
		s.defaults[t] = append(s.defaults[t], d.properties...)
		return
	}
	d.guards()
	d.scaffold()
}

// declaration is the literal part of a resource's declaration.
type declaration struct {
	s        *scan
	call     *ast.FuncCallExpr
	t        *resource.Type
	defaults bool

	name       string   // of the resource, "" if unknown
	properties []string // the names of the properties in the table
	entries    []schema.Entry
	partial    bool // there may be other names, properties or values than these
}

// read collects the names of the properties in the table, and the values that are literal.
func (d *declaration) read() {
	table := d.s.p.Properties(d.call)
	d.name = literalName(d.call)
	d.partial = d.defaults || d.name == "" || len(d.s.defaults[d.t]) > 0
	if table == nil {
		d.partial = d.partial || d.isPending()
		return
	}
	if e := luaapi.CutName(table); e != nil {
		hint := "pass the list itself: " + d.t.Name + " { names, ensure = ... }"
		d.s.findings = append(d.s.findings, Finding{Property, &diag.Error{Pos: d.s.p.Pos(e), Subject: d.t.Name, Hint: hint,
			Err: errors.New(luaapi.FirstNameOnly)}})
	}
	for _, f := range table.Fields {
		key, ok := f.Key.(*ast.StringExpr)
		if !ok {
			continue
		}
		d.properties = append(d.properties, key.Value)
		d.give(f, key.Value)
		field := d.field(key.Value)
		v, known := literal(f.Value)
		if field == nil || known {
			d.entries = append(d.entries, schema.Entry{Key: key.Value, Val: v})
		}
		d.partial = d.partial || !known
		if field != nil && field.IsName && known {
			d.name = v.S
		}
	}
}

// field returns a property of the type, or nil.
func (d *declaration) field(name string) *schema.Field {
	for _, s := range d.t.Properties() {
		if f := s.Field(name); f != nil {
			return f
		}
	}
	return nil
}

// subject returns the name of the resource in messages.
func (d *declaration) subject() string {
	switch {
	case d.defaults:
		return d.t.Name + ".defaults"
	case d.name == "":
		return d.t.Name
	}
	return resource.ID{Type: d.t.Name, Name: d.name}.String()
}

// values checks the literal values with the decoder of a run; if all values are literal, it
// validates the whole resource, too.
func (d *declaration) values() {
	table := &schema.Table{Entries: d.entries, Positions: d}
	var err error
	if d.partial {
		err = d.t.Properties().Decode(table, reflect.New(d.t.Schema().GoType).Interface(), new(resource.Common))
	} else {
		name := d.t.Schema().Name().Name
		if _, ok := table.Get(name); !ok {
			table.Set(name, schema.StringValue(d.name))
		}
		_, err = d.t.DecodeQuery(table, resource.Origin{})
	}
	var list diag.List
	list.Add(err)
	for _, e := range list {
		if e.Pos.IsZero() {
			continue // missing properties may come from elsewhere
		}
		e.Subject = d.subject()
		d.s.findings = append(d.s.findings, Finding{Property, e})
	}
}

// Locate implements schema.Locator.
func (d *declaration) Locate(path schema.Path, key bool) diag.Pos {
	pos := d.s.p.PropertyPos(d.call, path, key)
	if pos.IsZero() && len(path) > 0 && path[0] == d.t.Schema().Name().Name {
		return d.s.p.NamePos(d.call)
	}
	return pos
}

// references reports references to types that do not exist. Types of scripts are unknown here, so
// only names close to a known type are reported.
func (d *declaration) references() {
	names := d.s.l.Registry.TypeNames()
	check := func(text string, path ...any) {
		id, err := resource.ParseID(text)
		if err != nil {
			return
		}
		if t := d.s.l.Registry.Type(id.Type); t != nil {
			if path[0] == "notify" && !t.Refreshable() {
				d.noRefresh(path, t, "before")
			}
			return
		}
		if near := diag.Nearest(id.Type, names); near != "" {
			e := diag.Errorf(d.Locate(path, false), "%s: %w", path[0], diag.Unknown("resource type", id.Type, names))
			e.Subject = d.subject()
			d.s.findings = append(d.s.findings, Finding{UnknownType, e})
		}
	}
	if slices.Contains(d.properties, "subscribe") && !d.t.Refreshable() {
		d.noRefresh([]any{"subscribe"}, d.t, "require")
	}
	for _, e := range d.entries {
		f := resource.CommonSchema().Field(e.Key)
		if f == nil || f.Elem == nil || f.Elem.Describe() != "reference" {
			continue
		}
		if e.Val.Kind == schema.String {
			check(e.Val.S, e.Key)
		}
		for i, item := range e.Val.Items() {
			check(item.S, e.Key, i)
		}
	}
}

// noRefresh reports that a relation only orders, because t cannot be refreshed.
func (d *declaration) noRefresh(path []any, t *resource.Type, instead string) {
	e := diag.Errorf(d.Locate(path, false), "%s: %w", path[0], diag.SubjectCannot("a "+t.Name, "be refreshed; this only sets the order, like %s", instead))
	e.Subject, e.Hint = d.subject(), "use "+instead
	d.s.findings = append(d.s.findings, Finding{NoRefresh, e})
}

// guards reports a resource that would act in every run.
func (d *declaration) guards() {
	if !resource.TraitsOf(reflect.New(d.t.Schema().GoType).Interface()).ActsAlways {
		return
	}
	guards := guardsOf(d.t)
	if len(guards) == 0 {
		return
	}
	if table := d.s.p.Properties(d.call); table == nil && d.isPending() {
		return // the properties come in the next call, or from a variable
	}
	given := append(slices.Clone(d.properties), d.s.defaults[d.t]...)
	for _, name := range given {
		f := d.field(name)
		if f == nil || !slices.Contains(guards, f.Name) {
			continue
		}
		if i := slices.IndexFunc(d.entries, func(e schema.Entry) bool { return e.Key == name }); i >= 0 && d.entries[i].Val == schema.BoolValue(false) {
			continue
		}
		return
	}
	e := diag.Errorf(d.s.p.ConstructorPos(d.call), "runs every time, because it has neither a guard nor refreshonly")
	e.Subject, e.Hint = d.subject(), "set "+strings.Join(guards[:len(guards)-1], ", ")+" or "+guards[len(guards)-1]
	d.s.findings = append(d.s.findings, Finding{Unguarded, e})
}

// isPending reports whether the resource may get properties from another place.
func (d *declaration) isPending() bool {
	if d.s.curried[d.call] {
		return true
	}
	for _, arg := range d.call.Args {
		if _, ok := arg.(*ast.StringExpr); !ok {
			return true
		}
	}
	return len(d.call.Args) == 0
}

// guardsOf returns the properties that keep a resource of the type from acting
// in every run.
func guardsOf(t *resource.Type) []string {
	var out []string
	for i := range t.Schema().Fields {
		f := &t.Schema().Fields[i]
		spec := reflect.New(t.Schema().GoType).Interface()
		// Other missing properties do not matter here.
		_ = t.Schema().Decode(&schema.Table{Entries: []schema.Entry{{Key: f.Name, Val: someValue(f)}}}, spec)
		if !f.IsName && !resource.TraitsOf(spec).ActsAlways {
			out = append(out, f.Name)
		}
	}
	if t.Refreshable() && len(out) > 0 {
		out = append(out, "subscribe")
	}
	return out
}

// someValue returns a value that a property may have.
func someValue(f *schema.Field) schema.Value {
	switch f.Kind {
	case schema.Bool:
		return schema.BoolValue(true)
	case schema.Int, schema.Float:
		return schema.IntValue(1)
	}
	return schema.TextValue("x")
}

// literalName returns the name of the resource in a call, "" if it is not literal.
func literalName(call *ast.FuncCallExpr) string {
	if inner, ok := call.Func.(*ast.FuncCallExpr); ok {
		call = inner
	}
	if len(call.Args) == 0 {
		return ""
	}
	switch first := call.Args[0].(type) {
	case *ast.StringExpr:
		return first.Value
	case *ast.TableExpr:
		for _, f := range first.Fields {
			if s, ok := f.Value.(*ast.StringExpr); ok && f.Key == nil {
				return s.Value
			}
		}
	}
	return ""
}

// literal returns the value of an expression, if that is a literal.
func literal(e ast.Expr) (schema.Value, bool) {
	switch e := e.(type) {
	case *ast.StringExpr:
		return schema.StringValue(e.Value), true
	case *ast.TrueExpr:
		return schema.BoolValue(true), true
	case *ast.FalseExpr:
		return schema.BoolValue(false), true
	case *ast.NumberExpr:
		return number(e.Value)
	case *ast.UnaryMinusOpExpr:
		v, ok := literal(e.Expr)
		v.I, v.F = -v.I, -v.F
		return v, ok && (v.Kind == schema.Int || v.Kind == schema.Float)
	case *ast.TableExpr:
		return literalTable(e)
	}
	return schema.Value{}, false
}

func number(text string) (schema.Value, bool) {
	if n, err := strconv.ParseInt(text, 0, 64); err == nil && (!strings.HasPrefix(text, "0") || strings.HasPrefix(text, "0x") || len(text) == 1) {
		return schema.IntValue(n), true
	}
	f, err := strconv.ParseFloat(text, 64)
	return schema.NumberValue(f), err == nil
}

func literalTable(e *ast.TableExpr) (schema.Value, bool) {
	var items []schema.Value
	t := new(schema.Table)
	for _, f := range e.Fields {
		v, ok := literal(f.Value)
		if !ok {
			return schema.Value{}, false
		}
		switch key := f.Key.(type) {
		case nil:
			items = append(items, v)
		case *ast.StringExpr:
			t.Entries = append(t.Entries, schema.Entry{Key: key.Value, Val: v})
		default:
			return schema.Value{}, false
		}
	}
	if len(items) > 0 {
		return schema.ListValue(items...), len(t.Entries) == 0
	}
	return schema.MapValue(t), true
}
