package luaapi

import (
	"fmt"
	"slices"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// A declarationBuffer has the values of one declaration, and is reused for the next.
type declarationBuffer struct {
	names   []lua.LValue
	entries []schema.Entry
	table   schema.Table
	dir     string // the directory of relative paths, "" for that of the call
}

// begin empties the buffer for a declaration of t. The first entry is for the
// name.
func (w *declarationBuffer) begin(t *resource.Type) {
	w.entries, w.dir = append(w.entries[:0], schema.Entry{Key: t.Schema().Name().Name}), ""
}

// add adds a property.
func (w *declarationBuffer) add(key string, v schema.Value) {
	w.entries = append(w.entries, schema.Entry{Key: key, Val: v})
}

// A declarer makes resources from calls of constructors.
type declarer struct {
	*evaluator
	results      *Results
	free         *declarationBuffer   // nil while it is in use
	handles      *lua.LTable          // the metatable of handles
	constructors map[*lua.LTable]bool // those of types of scripts
	overrides    overrides
	setter       *lua.LFunction         // handle:set
	nilFields    map[*nilableField]bool // that were reported
}

// takeBuffer takes the buffer. If it is in use, because a type written in Lua declares
// something while another declaration is decoded, it returns a new one.
func (dc *declarer) takeBuffer() *declarationBuffer {
	w := dc.free
	dc.free = nil
	if w == nil {
		w = new(declarationBuffer)
	}
	dc.convert.hasUnsupported = false
	return w
}

// construct returns the function of the constructor of t. The forms of a call are
//
//	file { "/a", "/b", mode = "0644" }   names and properties in one table
//	file "/a" { mode = "0644" }          the properties in a second call
//	file("/a", { mode = "0644" })        or as a second argument
//	package "vim"                        no properties
//
// A list among the names is replaced by its items.
//
// The second form is recognized in the syntax tree, where the result of the call is called. The
// last form is declared at once: no properties can follow.
func (dc *declarer) construct(t *resource.Type) lua.LGFunction {
	return func(L *lua.LState) int {
		f := caller(L)
		first := L.Get(2) // the constructor itself comes before it
		var names []lua.LValue
		switch v := first.(type) {
		case lua.LString:
			names = append(names, v)
		case *lua.LTable:
			if L.GetTop() == 2 && !dc.source.isCurried(f) {
				return dc.declareTable(L, f, t, nil, v)
			}
			list := dc.Tables.Contents(v)
			for i := 1; i <= list.Len(); i++ {
				names = append(names, list.RawGetInt(i))
			}
			if k, _ := list.Next(position(list.Len())); k != lua.LNil || len(names) == 0 {
				return dc.declareTable(L, f, t, nil, v)
			}
		}
		switch {
		case len(names) == 0:
			dc.report.noteAt(L, f, fmt.Errorf("%s: %w", t.Name, diag.Expected("a name or a table of properties").Got("%s", kindOf(first))), "")
			return dc.failedHandles(L, f, t, []lua.LValue{lua.LString("")})
		case L.GetTop() == 2 && dc.source.isCurried(f):
			L.Push(dc.handle(&partialDeclaration{t, names}))
			return 1
		case L.GetTop() == 2:
			return dc.declareTable(L, f, t, names, nil)
		}
		props, ok := L.Get(3).(*lua.LTable)
		if !ok || L.GetTop() > 3 {
			dc.report.noteAt(L, f, fmt.Errorf("%s: %w", t.Name, diag.Expected("a table of properties after the name").Got("%s", kindOf(L.Get(3)))), "")
			return dc.failedHandles(L, f, t, names)
		}
		return dc.declareTable(L, f, t, names, props)
	}
}

// declareTable declares a resource for each name. If names is nil, they are the
// positions of props; props may be nil. It pushes the handles.
func (dc *declarer) declareTable(L *lua.LState, f frame, t *resource.Type, names []lua.LValue, props *lua.LTable) int {
	w := dc.takeBuffer()
	w.begin(t)
	if props != nil {
		w.dir = dc.tableDir(L, f, props)
		props = dc.Tables.Contents(props)
		dc.checkNil(L, f, t, props)
		n := props.Len()
		switch {
		case names == nil:
			names = w.names[:0]
			for i := 1; i <= n; i++ {
				names = append(names, props.RawGetInt(i))
			}
			w.names = names
		case n > 0:
			dc.report.noteAt(L, f, fmt.Errorf("%s: %w", t.Name, diag.Expected("only properties after the name").Got("also %s", kindOf(props.RawGetInt(1)))), "")
		}
		for k, v := props.Next(position(n)); k != lua.LNil; k, v = props.Next(k) {
			w.add(keyText(k), dc.convert.property(v))
		}
	}
	return dc.declare(L, f, t, names, w, nil)
}

// tableDir returns the directory of relative paths in the table of a constructor: that of the
// file that wrote the table, also if it passed the table to functions of modules. It is "" if the
// constructor is called in the directory of the script.
func (dc *declarer) tableDir(L *lua.LState, f frame, props *lua.LTable) (dir string) {
	c := dc.source.chunkOf(f.node)
	if c == nil || c.dir == dc.source.siteDir() {
		return ""
	}
	for level := 0; ; level++ {
		f, ok, more := dc.limits.frameAt(L, level)
		switch {
		case !more:
			return dir
		case !ok && level == 0: // the constructor
			continue
		case !ok:
			return dir
		}
		if c := dc.source.chunkOf(f.node); c != nil {
			dir = c.dir
		}
		if !isParameter(f.thread, f.dbg, props) {
			return dir
		}
	}
}

// isParameter reports whether a function that is running was given v.
func isParameter(L *lua.LState, dbg *lua.Debug, v lua.LValue) bool {
	fn, err := L.GetInfo("f", dbg, lua.LNil)
	if err != nil {
		return false
	}
	running, ok := fn.(*lua.LFunction)
	if !ok || running.IsG {
		return false
	}
	for i := 1; i <= int(running.Proto.NumParameters); i++ {
		if _, value := L.GetLocal(dbg, i); value == v {
			return true
		}
	}
	return false
}

// declare declares a resource for each name, with the properties in w. It pushes the handles
// unless the call site does not use them; s may be nil.
func (dc *declarer) declare(L *lua.LState, f frame, t *resource.Type, names []lua.LValue, w *declarationBuffer, s *callSite) int {
	var one [1]lua.LValue // most calls have one name
	handles := one[:0]
	from := resource.Origin{Pos: dc.source.lineOf(f.node, f.file), Calls: dc.source.chain(L, f), Scope: dc.opts.Scope}
	var def *defaults
	if c := dc.source.chunkOf(f.node); c != nil {
		if e := c.cut[f.node]; e != nil {
			dc.noteCut(L, f, t, e)
		}
		if from.Dir = c.dir; w.dir != "" {
			from.Dir = w.dir
		}
		if def = c.defaults[t]; def != nil {
			w.entries = def.fill(w.entries)
		}
		if c.common != nil {
			w.entries = c.common.fill(w.entries)
		}
	}
	where := locator{source: dc.source, typ: t, node: f.node, file: f.file, defaults: def}
	dc.markNumerals(t, w.entries, &where)
	push := func(x any) {
		if s == nil || !s.unused {
			handles = append(handles, dc.handle(x))
		}
	}
	if len(names) == 0 {
		push(dc.add(t, w, w.entries[1:], s.locatorFor(where), from))
	}
	first := len(dc.report.mistakes)
	declare := func(name lua.LValue) {
		if name == lua.LNil {
			at := where.Locate(schema.Path{w.entries[0].Key}, false)
			dc.report.mistakes.Add(&diag.Error{Pos: at, Subject: t.Name, Err: fmt.Errorf("name %d is nil", where.nth+1), Notes: from.Calls})
			push(&failedDeclaration{resource.ID{Type: t.Name}})
			return
		}
		w.entries[0].Val = dc.convert.value(name, 0)
		before := len(dc.report.mistakes)
		push(dc.add(t, w, w.entries, s.locatorFor(where), from))
		if before > first {
			dc.report.dropRepeated(first, before, &where)
		}
	}
	for i, name := range names {
		where.nth = i
		if list := dc.nameList(name); list != nil {
			for k := 1; k <= list.Len(); k++ {
				declare(list.RawGetInt(k))
			}
			continue
		}
		declare(name)
	}
	dc.free = w
	if s != nil && s.unused {
		return 0
	}
	return dc.pushHandles(L, f, handles)
}

// nameList returns a name that is a list of names as a table; nil if it is none.
func (dc *declarer) nameList(name lua.LValue) *lua.LTable {
	t, ok := name.(*lua.LTable)
	if !ok {
		return nil
	}
	list := dc.Tables.Contents(t)
	if k, _ := list.Next(position(list.Len())); k != lua.LNil {
		return nil
	}
	return list
}

// FirstNameOnly is the mistake in a list of names that [CutName] finds.
const FirstNameOnly = "only the first of these names is used, because the list is not last"

// noteCut reports that Lua keeps only the first of the names in e.
func (dc *declarer) noteCut(L *lua.LState, f frame, t *resource.Type, e ast.Expr) {
	list := "{ ... }"
	if call, ok := e.(*ast.FuncCallExpr); ok {
		list = "names"
		f.node = call.Line()
	}
	dc.report.noteAt(L, f, fmt.Errorf("%s: %s", t.Name, FirstNameOnly),
		fmt.Sprintf("pass the list itself: %s { %s, ensure = ... }", t.Name, list))
}

// pushHandles pushes the handles of a call: one for each name if they are assigned to
// several variables, otherwise one that stands for all.
func (dc *declarer) pushHandles(L *lua.LState, f frame, handles []lua.LValue) int {
	if c := dc.source.chunkOf(f.node); len(handles) != 1 && (c == nil || !c.spread(f.node)) {
		L.Push(dc.handle(handleGroup(slices.Clone(handles))))
		return 1
	}
	for _, h := range handles {
		L.Push(h)
	}
	return len(handles)
}

// locatorFor returns a pointer to where. The resources of a call site share it if they can;
// s may be nil.
func (s *callSite) locatorFor(where locator) *locator {
	if s != nil && s.locator != nil && *s.locator == where {
		return s.locator
	}
	p := new(locator)
	*p = where
	if s != nil {
		s.locator = p
	}
	return p
}

// add decodes one declaration and adds it to the catalog. It returns the
// value of its handle.
func (dc *declarer) add(t *resource.Type, w *declarationBuffer, entries []schema.Entry, where *locator, from resource.Origin) any {
	hasUnsupported := dc.convert.hasUnsupported
	w.table = schema.Table{Entries: entries, Positions: where}
	r, err := t.Decode(&w.table, from)
	if err == nil && hasUnsupported {
		// The decoder has accepted it for a property that takes any value. Or it is not in these
		// entries, but is another name of the same call.
		if path, f := findUnsupported(entries); f != "" {
			err = r.Errorf(path, "%s: %w", path[:1], diag.SubjectCannot("a property", "hold %s", f))
		}
	}
	if err == nil && len(r.LazyProperties) > 0 {
		r.Resolve = dc.results.resolver(t, entries, where, from)
	}
	if err == nil && r.Common.Provider != "" {
		err = dc.opts.Registry.CheckProvider(r)
	}
	if err == nil {
		r, err = dc.admit(r)
	}
	if err == nil {
		dc.applyOverrides(r)
		return r
	}
	dc.opts.Builder.AddInvalid(t.DecodeInvalid(&w.table, from))
	var list diag.List
	list.Add(err)
	for _, e := range list {
		if e.Pos == from.Pos {
			e.Pos = where.Locate(nil, false)
		}
	}
	dc.report.mistakes = append(dc.report.mistakes, list...)
	id := resource.ID{Type: t.Name}
	name := t.Schema().Name()
	for i := range entries {
		if t.Schema().Field(entries[i].Key) == name {
			id.Name = entries[i].Val.S
			break
		}
	}
	return &failedDeclaration{id}
}

// failedHandles pushes a handle for each name of a failed declaration.
func (dc *declarer) failedHandles(L *lua.LState, f frame, t *resource.Type, names []lua.LValue) int {
	handles := make([]lua.LValue, len(names))
	for i, name := range names {
		handles[i] = dc.handle(&failedDeclaration{resource.ID{Type: t.Name, Name: lua.LVAsString(name)}})
	}
	return dc.pushHandles(L, f, handles)
}

// admit adds a resource to the catalog. In a console it may replace a resource of an earlier
// text.
func (dc *declarer) admit(r *resource.Resource) (*resource.Resource, error) {
	if dc.invoked > 0 {
		return nil, r.Errorf(nil, "%w", errClosed)
	}
	if dc.entries != nil {
		return dc.entries.admit(r)
	}
	return dc.opts.Add(r)
}
