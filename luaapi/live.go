package luaapi

import (
	"reflect"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"
	luar "layeh.com/gopher-luar"

	"github.com/luaccm/ccm/runtime/diag"
)

// A live value is a Go value that a script can look into: a pointer to a
// struct, a list or a map of a type that was made for it. Live values are
// read-only, and to ask for a field that they do not have is a mistake.
//
// The fields of a struct have the names of their json tags, so that a value
// looks the same in Lua and in JSON. Of the methods a script sees those that
// the type lists.

// A MethodLister is a live value with methods for scripts. Their names are those in Go,
// in lower case with underscores.
type MethodLister interface {
	// LuaMethods lists the methods by their names in Lua.
	LuaMethods() []string
}

// A Namer is a live value with a name for messages other than that of its type.
type Namer interface{ LuaName() string }

// A Keyer is an element that a live list finds by its key, as in
// plan()["file#/etc/motd"].
type Keyer interface{ Key() string }

// liveTables makes the metatables of live values.
type liveTables struct{ ev *evaluator }

// Live returns a value for scripts that reads through to v.
func (s *Console) Live(v any) lua.LValue {
	L := s.in.vm
	if v == nil {
		return lua.LNil
	}
	(&liveTables{s.in.evaluator}).expose(reflect.TypeOf(v))
	return luar.New(L, v)
}

// liveMark is the field of their metatable by which live values are known.
const liveMark = "live"

// isLive reports whether v is a live value.
func isLive(v *lua.LUserData) bool {
	mt, ok := v.Metatable.(*lua.LTable)
	return ok && mt.RawGetString(liveMark) == lua.LTrue
}

// expose makes the metatables of t and of all types in it. gopher-luar's return nil for an
// unknown field, let scripts set fields and call every method, and have no __pairs. These differ
// in all of that.
func (lv *liveTables) expose(t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
	default:
		return
	}
	L := lv.ev.vm
	config := luar.GetConfig(L)
	config.FieldNames = func(_ reflect.Type, f reflect.StructField) []string { return liveField(f) }
	config.MethodNames = func(t reflect.Type, m reflect.Method) []string {
		name := snake(m.Name)
		if !slices.Contains(liveMethods(t), name) {
			return nil
		}
		return []string{name}
	}
	mt := luar.MT(L, reflect.Zero(t).Interface()).LTable
	if mt.RawGetString(liveMark) == lua.LTrue {
		return
	}
	mt.RawSetString(liveMark, lua.LTrue)
	lv.restrict(mt)
	if t.Kind() != reflect.Pointer {
		lv.expose(t.Elem())
		return
	}
	// gopher-luar takes the fields from the metatable of the struct type.
	luar.MT(L, reflect.Zero(t.Elem()).Interface())
	for i := range t.Elem().NumField() {
		if f := t.Elem().Field(i); f.IsExported() {
			lv.expose(f.Type)
		}
	}
}

// restrict changes a metatable of gopher-luar to that of a live value.
func (lv *liveTables) restrict(mt *lua.LTable) {
	L := lv.ev.vm
	get := mt.RawGetString("__index")
	for _, event := range []string{"__pow", "__unm", "__add"} {
		mt.RawSetString(event, lua.LNil)
	}
	mt.RawSetString("__metatable", lua.LFalse)
	mt.RawSetString("__index", L.NewFunction(func(L *lua.LState) int {
		ud, key := L.CheckUserData(1), L.Get(2)
		v := reflect.ValueOf(ud.Value)
		if n, ok := key.(lua.LNumber); ok && v.Kind() == reflect.Slice {
			if i := int(n); lua.LNumber(i) != n || i < 1 || i > v.Len() {
				L.Push(lua.LNil)
				return 1
			}
		} else if !slices.Contains(liveNames(ud.Value), keyText(key)) {
			if e := elementOf(v, keyText(key)); e != nil {
				L.Push(luar.New(L, e))
				return 1
			}
			lv.ev.report.throwError(L, &fieldError{liveName(ud.Value), keyText(key), liveNames(ud.Value)})
		}
		L.Push(get)
		L.Push(ud)
		L.Push(key)
		L.Call(2, 1)
		return 1
	}))
	mt.RawSetString("__newindex", L.NewFunction(func(L *lua.LState) int {
		lv.ev.report.throw(L, "", "%s is read-only", liveName(L.CheckUserData(1).Value))
		return 0
	}))
	list := L.NewFunction(func(L *lua.LState) int {
		L.Push(lv.ev.next)
		L.Push(lv.list(L, L.CheckUserData(1).Value))
		L.Push(lua.LNil)
		return 3
	})
	mt.RawSetString("__pairs", list)
	mt.RawSetString("__ipairs", list)
}

// list returns a table with the fields of a live value, in their order.
func (lv *liveTables) list(L *lua.LState, v any) *lua.LTable {
	t := L.CreateTable(0, 0)
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Slice:
		for i := range r.Len() {
			t.RawSetInt(i+1, luar.New(L, r.Index(i).Interface()))
		}
	case reflect.Map:
		for _, name := range mapNames(r) {
			t.RawSetString(name, luar.New(L, r.MapIndex(reflect.ValueOf(name).Convert(r.Type().Key())).Interface()))
		}
	case reflect.Pointer:
		r = r.Elem()
		for i := range r.NumField() {
			for _, name := range liveField(r.Type().Field(i)) {
				t.RawSetString(name, luar.New(L, r.Field(i).Interface()))
			}
		}
	}
	return t
}

// elementOf returns the element of a list that has the key, or nil.
func elementOf(list reflect.Value, key string) any {
	if list.Kind() != reflect.Slice {
		return nil
	}
	for i := range list.Len() {
		if e, ok := list.Index(i).Interface().(Keyer); ok && e.Key() == key {
			return e
		}
	}
	return nil
}

// liveNames returns the names of the fields and methods of a live value.
func liveNames(v any) []string {
	names := liveMethods(reflect.TypeOf(v))
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Map:
		names = append(names, mapNames(r)...)
	case reflect.Pointer:
		t := r.Type().Elem()
		for i := range t.NumField() {
			names = append(names, liveField(t.Field(i))...)
		}
	}
	return names
}

func mapNames(m reflect.Value) []string {
	var names []string
	for _, k := range m.MapKeys() {
		names = append(names, k.String())
	}
	slices.Sort(names)
	return names
}

// liveField returns the name of a field in Lua, or nothing.
func liveField(f reflect.StructField) []string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "" || name == "-" || !f.IsExported() {
		return nil
	}
	return []string{name}
}

func liveMethods(t reflect.Type) []string {
	if c, ok := reflect.Zero(t).Interface().(MethodLister); ok {
		return slices.Clone(c.LuaMethods())
	}
	return nil
}

// liveName returns the name of a live value in messages.
func liveName(v any) string {
	if n, ok := v.(Namer); ok {
		return n.LuaName()
	}
	t := reflect.TypeOf(v)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return snake(t.Name())
}

// snake returns a Go name as Lua writes it: NoopMessage is noop_message.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if r >= 'A' && r <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// A fieldError is the error that a live value has no such field.
type fieldError struct {
	owner, name string
	names       []string
}

// Error names the field.
func (e *fieldError) Error() string {
	a := "a "
	if strings.ContainsRune("aeiou", rune(e.owner[0])) {
		a = "an "
	}
	return a + e.owner + " does not have the field " + literal(lua.LString(e.name), 0)
}

// Hint returns the nearest name, or all names.
func (e *fieldError) Hint() string {
	if near := diag.DidYouMean(e.name, e.names); near != "" {
		return near
	}
	if len(e.names) == 0 {
		return ""
	}
	return "fields: " + strings.Join(e.names, ", ")
}
