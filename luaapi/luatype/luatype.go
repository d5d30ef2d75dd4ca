// Package luatype lets scripts define types of resource.
//
//	return ccm.type {
//	  name = "motd", doc = "Keeps the message of the day.",
//	  properties = {
//	    path = { type = "path", name = true },
//	    text = { required = true },
//	  },
//	  status  = function(want, host) return { text = host.read(want.path) or "" } end,
//	  perform = function(action, want, have, host) host.write(want.path, want.text) end,
//	}
//
// What ccm.type returns is the constructor of the type. The type is added to the
// registry of the run, and from then on it is one like any other: the functions
// of the script take the place of a provider. They run after the evaluation, in
// the state of the script and on the goroutine of the engine's walk, so such
// types never look ahead.
//
// Begin with [Extend].
package luatype

import (
	"fmt"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// A library is ccm.type in one interpreter.
type library struct {
	in     *luaapi.Interp
	access *access     // the machine that host reaches now, nil for none
	looks  *lua.LTable // host in status
	acts   *lua.LTable // host in perform
	places map[string]diag.Pos
}

// Extend adds ccm.type to an interpreter. It is for luaapi.Options.Extend.
func Extend(in *luaapi.Interp) {
	lib := &library{in: in, places: make(map[string]diag.Pos)}
	var define *lua.LFunction
	in.Field("type", func(L *lua.LState) lua.LValue {
		if define == nil {
			define = L.NewFunction(lib.define)
		}
		return define
	})
}

// A definition is a type defined by a script.
type definition struct {
	lib    *library
	name   string
	schema *schema.Schema
	fields map[string]field // attributes of the properties that the schema does not have

	status, decide, perform, refresh, validate, edit, leaves, programs, recreate *lua.LFunction

	phrases  map[string]string
	commands []string // nil if not given
	live     bool
	part     []string // the properties that say which part of the file is edited

	// managesLinks says that the type has the linkProperties.
	managesLinks bool

	// warned are the properties of the last resource whose edit function warned.
	warned *resource.Properties

	// latest is the last result of status, for perform.
	latest struct {
		want *resource.Properties
		have State
	}
}

// keys are the allowed keys in the table of ccm.type.
var keys = []string{"name", "doc", "properties", "status", "decide", "perform", "refresh", "validate", "edit", "part", "leaves", "programs", "recreate", "phrases", "commands", "live"}

// define is ccm.type.
func (lib *library) define(L *lua.LState) int {
	given, ok := L.Get(1).(*lua.LTable)
	if !ok || L.GetTop() > 1 {
		lib.in.Throw(L, "", "ccm.type: %w", diag.Expected("a table such as { name = ..., properties = { ... }, status = ..., perform = ... }").Got("%s", describe(L.Get(1))))
	}
	r := reader{library: lib, L: L}
	r.known(given, nil, keys)
	d := &definition{lib: lib, name: r.text(given, "name")}
	if !schema.IsIdentifier(d.name) {
		r.fail("name", "", "%w", diag.Expected(`a lower-case word such as "line"`).Got("%s", describe(given.RawGetString("name"))))
	}
	doc, _ := r.optional(given, "doc", lua.LTString).(lua.LString)
	r.functions(given, d)
	r.phrases(given, d)
	r.commands(given, d)
	d.live = r.optional(given, "live", lua.LTBool) == lua.LTrue
	props, ok := given.RawGetString("properties").(*lua.LTable)
	if !ok {
		r.fail("properties", "", "%w", diag.Expected("a table of properties").Got("%s", describe(given.RawGetString("properties"))))
	}
	var more []schema.Property
	if d.managesLinks = d.edit != nil && props.RawGetString("links") == lua.LNil && props.RawGetString("hardlinks") == lua.LNil; d.managesLinks {
		more = linkProperties
	}
	d.schema, d.fields = r.schema(string(doc), props, schema.Path{"properties"}, more...)
	if d.schema.Name() == nil {
		r.fail("properties", "mark the property that holds the name with name = true", "no property is the name of the resource")
	}
	r.checkEdit(given, d)
	return d.add(L)
}

// add adds the type to the registry and pushes its constructor.
func (d *definition) add(L *lua.LState) int {
	in := d.lib.in
	if at, ok := d.lib.places[d.name]; ok && !in.IsInteractive() {
		in.Throw(L, fmt.Sprintf("defined at %s", at), "type %s already exists", d.name)
	}
	fns := d.functions()
	fns.Source = in.Caller(L).Source()
	f, err := fns.Bind()
	var c *lua.LTable
	if err == nil {
		c, err = in.DefineType(f)
	}
	if err != nil {
		in.Throw(L, "", "%w", err)
	}
	d.lib.places[d.name] = in.Caller(L).Pos()
	L.Push(c)
	return 1
}

// functions returns the functions that a type consists of.
func (d *definition) functions() resource.Functions {
	f := resource.Functions{
		Name: d.name, Provider: "lua", Commands: d.commands, Live: d.live, Schema: d.schema, ResolvePaths: d.locate(),
		Status: d.callStatus, Decide: d.decideAny, Perform: d.callPerform, Export: export,
	}
	if d.validate != nil || d.hasTexts() {
		f.Validate = d.validateAny
	}
	if d.refresh != nil {
		f.Refresh = d.addRefresh
	}
	if d.leaves != nil {
		f.Effects = d.callLeaves
	}
	if d.programs != nil {
		f.Programs = d.callPrograms
	}
	if d.recreate != nil {
		f.Recreate = d.callRecreate
	}
	if d.edit != nil {
		f.Status, f.Decide, f.Perform, f.Edits = d.editStatus, d.editDecide, d.editPerform, d.editedFile
		f.Part = d.editedPart
		f.Validate, f.Predict = d.validateEdit, d.editPredict
	}
	return f
}

// A reader reads the table of ccm.type. It throws mistakes at their place.
type reader struct {
	*library
	L *lua.LState
}

// fail throws a mistake in a field of the table.
func (r *reader) fail(key, hint, format string, args ...any) {
	r.failIn(schema.Path{key}, false, hint, key+": "+format, args...)
}

func (r *reader) failIn(path schema.Path, key bool, hint, format string, args ...any) {
	r.in.ThrowIn(r.L, path, key, hint, "ccm.type: "+format, args...)
}

// known throws a mistake for the first name in t that is none of names.
func (r *reader) known(t *lua.LTable, path schema.Path, names []string) {
	for k, _ := t.Next(lua.LNil); k != lua.LNil; k, _ = t.Next(k) {
		name, ok := k.(lua.LString)
		if !ok {
			r.failIn(path, true, "", "%w", diag.Expected("only names in the table").Got("%s", describe(k)))
		}
		if !slices.Contains(names, string(name)) {
			r.failIn(append(path, string(name)), true, "", "%s%w", prefix(path), diag.Unknown("field", string(name), names))
		}
	}
}

// prefix names the place of a mistake: properties.path and a colon.
func prefix(path schema.Path) string {
	if len(path) == 0 {
		return ""
	}
	return path.String() + ": "
}

func (r *reader) text(t *lua.LTable, key string) string {
	s, ok := t.RawGetString(key).(lua.LString)
	if !ok {
		r.fail(key, "", "%w", diag.Expected("a string").Got("%s", describe(t.RawGetString(key))))
	}
	return string(s)
}

// optional returns a field that is of a kind, or nil.
func (r *reader) optional(t *lua.LTable, key string, kind lua.LValueType) lua.LValue {
	v := t.RawGetString(key)
	if v != lua.LNil && v.Type() != kind {
		r.fail(key, "", "%w", diag.Expected("a %s", kind).Got("%s", describe(v)))
	}
	return v
}

// functions reads the functions of the type.
func (r *reader) functions(t *lua.LTable, d *definition) {
	for _, f := range []struct {
		name string
		to   **lua.LFunction
	}{
		{"status", &d.status}, {"decide", &d.decide}, {"perform", &d.perform},
		{"refresh", &d.refresh}, {"validate", &d.validate}, {"edit", &d.edit}, {"leaves", &d.leaves}, {"programs", &d.programs}, {"recreate", &d.recreate},
	} {
		*f.to, _ = r.optional(t, f.name, lua.LTFunction).(*lua.LFunction)
	}
	switch {
	case d.edit != nil && (d.status != nil || d.decide != nil || d.perform != nil || d.refresh != nil || d.leaves != nil || d.programs != nil || d.recreate != nil):
		r.fail("edit", "", "a type with edit cannot define status, decide, perform, refresh, leaves, programs or recreate")
	case d.edit == nil && (d.status == nil || d.perform == nil):
		r.in.Throw(r.L, "or define a function edit", "ccm.type: the functions status and perform are required")
	}
}

// commands reads the names of the programs that the type runs.
func (r *reader) commands(t *lua.LTable, d *definition) {
	given, ok := r.optional(t, "commands", lua.LTTable).(*lua.LTable)
	if !ok {
		return
	}
	d.commands = make([]string, 0, given.Len())
	given.ForEach(func(k, v lua.LValue) {
		name, isText := v.(lua.LString)
		if _, isNumber := k.(lua.LNumber); !isText || !isNumber || name == "" || strings.ContainsAny(string(name), "/ ") {
			r.failIn(schema.Path{"commands"}, false, "", "commands: %w", diag.Expected(`a list of program names such as { "useradd" }`).Got("%s", describe(v)))
		}
		d.commands = append(d.commands, string(name))
	})
}

// phrases reads the phrases of the actions.
func (r *reader) phrases(t *lua.LTable, d *definition) {
	d.phrases = make(map[string]string)
	given, ok := r.optional(t, "phrases", lua.LTTable).(*lua.LTable)
	if !ok {
		return
	}
	path := schema.Path{"phrases"}
	r.known(given, path, []string{create, update, remove, refresh})
	for k, v := given.Next(lua.LNil); k != lua.LNil; k, v = given.Next(k) {
		s, ok := v.(lua.LString)
		if !ok || !isPhrase(string(s)) {
			r.failIn(append(path, k.String()), false, "", "phrases.%s: %w", k, diag.Expected(`a phrase that follows "Would have", such as "created the user"`).Got("%s", describe(v)))
		}
		d.phrases[k.String()] = string(s)
	}
}
