package luaapi

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// An override is the properties of a call of handle:set.
type override struct {
	entries []schema.Entry
	frame   frame
	calls   []diag.Note
	dir     string // of relative paths, "" if none begins there
}

// A collection is the resources collected by ccm.resources. Its overrides also apply to resources
// that are declared later.
type collection struct {
	filter    catalog.Filter
	frame     frame
	overrides []*override
	matched   bool
}

// A setProperty is a property that was set, with place and value.
type setProperty struct {
	pos diag.Pos
	val schema.Value
}

// overrides is the state of handle:set and ccm.resources.
type overrides struct {
	collections []*collection
	properties  map[resource.ID]map[string]setProperty
}

// collect is ccm.resources.
func (dc *declarer) collect(L *lua.LState) int {
	c := &collection{frame: caller(L)}
	if L.GetTop() > 0 {
		props, ok := L.Get(1).(*lua.LTable)
		if !ok || L.GetTop() > 1 {
			dc.report.throw(L, `use ccm.resources {  type = "file", tags = "web" }`, "ccm.resources: %w", diag.Expected("a table").Got("%s", kindOf(L.Get(1))))
		}
		dc.readFilter(L, dc.Tables.Contents(props), &c.filter)
	}
	list := dc.vm.CreateTable(0, 0)
	for _, r := range dc.opts.Builder.Resources() {
		if dc.matches(c, r) {
			list.Append(dc.handle(r))
		}
	}
	mt := dc.vm.CreateTable(0, 2)
	set := dc.vm.NewFunction(func(L *lua.LState) int {
		if L.Get(1) != lua.LValue(list) {
			dc.report.throw(L, "use :set { ... }", "set called without a colon")
		}
		o := dc.readOverride(L)
		if len(c.overrides) == 0 {
			dc.overrides.collections = append(dc.overrides.collections, c)
		}
		c.overrides = append(c.overrides, o)
		for _, r := range slices.Clone(dc.opts.Builder.Resources()) {
			if dc.matches(c, r) {
				dc.applyOverride(r, o)
			}
		}
		L.Push(list)
		return 1
	})
	mt.RawSetString("__index", dc.vm.NewFunction(func(L *lua.LState) int {
		switch key := L.Get(2).(type) {
		case lua.LString:
			if key != "set" {
				dc.report.throw(L, "the list of handles has the function set only", "ccm.resources: %w", diag.Unknown("field", string(key), nil))
			}
			L.Push(set)
		default:
			L.Push(lua.LNil)
		}
		return 1
	}))
	mt.RawSetString("__metatable", lua.LFalse)
	list.Metatable = mt
	L.Push(list)
	return 1
}

// readFilter reads the argument of ccm.resources.
func (dc *declarer) readFilter(L *lua.LState, props *lua.LTable, f *catalog.Filter) {
	report := dc.report
	text := func(key string, v lua.LValue) string {
		s, ok := v.(lua.LString)
		if !ok || s == "" {
			report.throw(L, "", "ccm.resources: %s: %w", key, diag.Expected("a string").Got("%s", kindOf(v)))
		}
		return string(s)
	}
	for k, v := props.Next(lua.LNil); k != lua.LNil; k, v = props.Next(k) {
		switch key := keyText(k); key {
		case "type":
			if f.Type = text(key, v); !dc.knowsType(f.Type) {
				report.throw(L, "", "ccm.resources: %w", diag.Unknown("resource type", f.Type, dc.typeNames()))
			}
		case "name":
			f.Name = text(key, v)
		case "tags":
			if list, ok := v.(*lua.LTable); ok {
				list = dc.Tables.Contents(list)
				for i := 1; i <= list.Len(); i++ {
					f.Tags = append(f.Tags, text(key, list.RawGetInt(i)))
				}
				if len(f.Tags) > 0 {
					continue
				}
			}
			f.Tags = []string{text(key, v)}
		default:
			report.throw(L, diag.DidYouMean(key, []string{"type", "name", "tags"}), "ccm.resources: %w", diag.Expected("type, name or tags").Got("%q", key))
		}
	}
	if _, err := (catalog.Filter{Type: f.Type, Name: f.Name}).Matches(&resource.Resource{ID: resource.ID{Type: "x", Name: "x"}, Common: resource.EmptyCommon}); err != nil {
		report.throw(L, "", "ccm.resources: %v", err)
	}
}

// typeNames returns the names of all types known by now.
func (dc *declarer) typeNames() (names []string) {
	for _, t := range dc.opts.Registry.Types() {
		names = append(names, t.Name)
	}
	return names
}

// knowsType reports whether a type exists, or the name is a pattern.
func (dc *declarer) knowsType(name string) bool {
	return strings.ContainsAny(name, "*?[") || dc.opts.Registry.Type(name) != nil
}

func (dc *declarer) matches(c *collection, r *resource.Resource) bool {
	ok, err := c.filter.Matches(r)
	if ok = ok && err == nil; ok {
		c.matched = true
	}
	return ok
}

// handleSet is handle:set.
func (dc *declarer) handleSet(L *lua.LState) int {
	handle := L.Get(1)
	handles := []lua.LValue{handle}
	if group, ok := groupOf(handle); ok {
		handles = group
	} else if _, ok := handleOf(handle); !ok {
		dc.report.throw(L, "use handle:set { ... }", "set called without a colon")
	}
	o := dc.readOverride(L)
	for _, h := range handles {
		switch x := h.(*lua.LUserData).Value.(type) {
		case *resource.Resource:
			if now := dc.opts.Builder.Get(x.ID); now != nil {
				dc.applyOverride(now, o)
			}
		case *partialDeclaration:
			dc.report.throw(L, "write the properties directly after the name", "%s is not declared yet", handleText(h))
		}
	}
	L.Push(handle)
	return 1
}

// readOverride reads the argument of set.
func (dc *declarer) readOverride(L *lua.LState) *override {
	o := &override{frame: caller(L)}
	o.calls = dc.source.chain(L, o.frame)
	props, ok := L.Get(2).(*lua.LTable)
	if !ok || L.GetTop() != 2 {
		dc.report.throw(L, `use handle:set { mode = "0600" }`, "set: %w", diag.Expected("a table of properties").Got("%s", kindOf(L.Get(2))))
	}
	if dc.invoked > 0 {
		dc.report.throw(L, "", "set: %w", errClosed)
	}
	if c := dc.source.chunkOf(o.frame.node); c != nil {
		o.dir = c.dir
	}
	props = dc.Tables.Contents(props)
	for k, v := props.Next(lua.LNil); k != lua.LNil; k, v = props.Next(k) {
		o.entries = append(o.entries, schema.Entry{Key: keyText(k), Val: dc.convert.property(v)})
	}
	slices.SortFunc(o.entries, func(a, b schema.Entry) int { return strings.Compare(a.Key, b.Key) })
	return o
}

// applyOverrides applies the overrides of collections to a resource that was just declared.
func (dc *declarer) applyOverrides(r *resource.Resource) {
	for _, c := range dc.overrides.collections {
		if !dc.matches(c, r) {
			continue
		}
		for _, o := range c.overrides {
			if now := dc.opts.Builder.Get(r.ID); now != nil {
				dc.applyOverride(now, o)
			}
		}
	}
}

// endOverrides warns of collections whose overrides matched nothing; with Strict that is a mistake.
func (dc *declarer) endOverrides() {
	for _, c := range dc.overrides.collections {
		e := &diag.Error{Pos: dc.source.framePos(c.frame), Err: diag.None("resource matches this ccm.resources, so nothing is set")}
		switch {
		case c.matched:
		case dc.opts.Strict:
			dc.report.mistakes.Add(e)
		default:
			dc.opts.Warn(e.Pos, e.Message())
		}
	}
}

// applyOverride declares a resource again with an override. Mistakes are noted with both places.
func (dc *declarer) applyOverride(r *resource.Resource, o *override) {
	where := &overrideLocator{locator{source: dc.source, typ: r.Type, node: o.frame.node, file: o.frame.file}, o, r.Positions, r.Pos}
	now, err := dc.overridden(r, o, where)
	if err == nil {
		dc.opts.Builder.Replace(r, now)
		if dc.entries != nil {
			dc.entries.replace(r, now)
		}
		return
	}
	var list diag.List
	list.Add(err)
	for _, e := range list {
		if e.Pos.IsZero() {
			e.Pos = where.Locate(nil, false)
		}
		e.Subject = r.ID.String()
		e.Notes = slices.DeleteFunc(append(slices.Clone(e.Notes), o.calls...), func(n diag.Note) bool { return n.Pos == e.Pos })
		if e.Pos.File != r.Pos.File || e.Pos.Line != r.Pos.Line {
			e.Notes = append(e.Notes, diag.Note{Pos: r.Pos, Text: "declared here"})
		}
	}
	dc.report.mistakes = append(dc.report.mistakes, list...)
}

// overridden returns a resource with the properties of an override.
func (dc *declarer) overridden(r *resource.Resource, o *override, where *overrideLocator) (*resource.Resource, error) {
	if resource.TraitsOf(r.Spec).Child != nil {
		return nil, diag.Already("the resource", "expanded, so it cannot be changed")
	}
	if len(r.LazyProperties) > 0 {
		return nil, &diag.Error{Err: diag.SubjectCannot("the resource", "be changed: %s is known only during the run", r.LazyProperties[0]), Hint: "set all properties in the declaration"}
	}
	union := r.Type.Properties()
	tab := union.Encode(r.Spec, r.Common)
	tab.Positions = where
	var errs diag.List
	from := resource.Origin{Pos: r.Pos, Dir: o.dir, Skip: r.Skip, Scope: r.Scope, Calls: slices.Clip(r.Calls)}
	for _, e := range o.entries {
		name := where.spellings(e.Key)[0]
		pos := where.Locate(schema.Path{name}, true)
		switch {
		case name == r.Type.Schema().Name().Name || e.Key == "1" || name == "alias":
			errs.Add(diag.At(pos, fmt.Errorf("%s: %w", e.Key, diag.SubjectCannot("the name", "be changed"))))
			continue
		case e.Val.Kind == schema.Lazy:
			errs.Add(diag.Errorf(pos, "%s: %w", e.Key, diag.AppliesOnly("ccm.lazy", "declarations")))
			continue
		}
		if path, f := findUnsupported([]schema.Entry{e}); f != "" {
			errs.Add(diag.At(pos, fmt.Errorf("%s: %w", path[:1], diag.SubjectCannot("a property", "hold %s", f))))
			continue
		}
		if was, ok := dc.overrides.properties[r.ID][name]; ok && !reflect.DeepEqual(was.val, e.Val) {
			errs.Add(diag.At(pos, diag.Already(name, "set to another value at %s", was.pos)))
			continue
		}
		tab.Set(name, e.Val)
		from.Calls = append(from.Calls, diag.Note{Pos: pos, Text: name + " is set here"})
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	now, err := r.Type.Decode(tab, from)
	if err == nil && now.Common.Provider != "" {
		err = dc.opts.Registry.CheckProvider(now)
	}
	if err != nil {
		return nil, err
	}
	if dc.overrides.properties == nil {
		dc.overrides.properties = make(map[resource.ID]map[string]setProperty)
	}
	if dc.overrides.properties[r.ID] == nil {
		dc.overrides.properties[r.ID] = make(map[string]setProperty)
	}
	now.Dir = r.Dir
	for _, e := range o.entries {
		name := where.spellings(e.Key)[0]
		dc.overrides.properties[r.ID][name] = setProperty{where.Locate(schema.Path{name}, true), e.Val}
	}
	return now, nil
}

// An overrideLocator is the schema.Locator of a resource with an override: the set properties
// have the places where they were set, the others those of the declaration.
type overrideLocator struct {
	locator
	override    *override
	declaration schema.Locator // may be nil
	pos         diag.Pos       // of the declaration
}

// Locate implements schema.Locator.
func (p *overrideLocator) Locate(path schema.Path, key bool) diag.Pos {
	if len(path) > 0 {
		name, _ := path[0].(string)
		names := p.spellings(name)
		if !slices.ContainsFunc(p.override.entries, func(e schema.Entry) bool { return e.Key == name || slices.Contains(names, e.Key) }) {
			if p.declaration == nil {
				return p.pos
			}
			return p.declaration.Locate(path, key)
		}
	}
	return p.locator.Locate(path, key)
}
