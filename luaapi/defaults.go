package luaapi

import (
	"fmt"
	"reflect"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// Defaults are the properties that declarations of one type have in one file
// unless they say otherwise. They do not change; another call of defaults makes
// new ones.
type defaults struct{ list []defaultValue }

type defaultValue struct {
	names   []string // the property and its aliases
	entry   schema.Entry
	locate  locator
	appends bool // the value is appended to the list that a declaration gives
}

// fill adds to entries the defaults for missing properties. Some defaults are appended to the
// given lists.
func (d *defaults) fill(entries []schema.Entry) []schema.Entry {
	given := entries
next:
	for i := range d.list {
		for k := range given {
			for _, name := range d.list[i].names {
				if given[k].Key != name {
					continue
				}
				if d.list[i].appends {
					given[k].Val = schema.Append(given[k].Val, d.list[i].entry.Val)
				}
				continue next
			}
		}
		entries = append(entries, d.list[i].entry)
	}
	return entries
}

// setDefaults returns the function TYPE.defaults. From its call to the end of the file,
// declarations of t have these properties. It reports mistakes in them once, rather than for
// every declaration.
func (dc *declarer) setDefaults(t *resource.Type) lua.LGFunction {
	return func(L *lua.LState) int {
		f := caller(L)
		props, ok := L.Get(1).(*lua.LTable)
		if dc.isConstructor(L.Get(1)) {
			dc.report.noteAt(L, f, diag.Expected("%s.defaults", t.Name).Got("%s:defaults", t.Name), fmt.Sprintf("use %s.defaults { ... }", t.Name))
			return 0
		}
		if !ok || L.GetTop() > 1 {
			dc.report.noteAt(L, f, fmt.Errorf("%s.defaults: %w", t.Name, diag.Expected("a table of properties").Got("%s", kindOf(L.Get(1)))), "")
			return 0
		}
		c := dc.source.chunkOf(f.node)
		if c == nil {
			return 0
		}
		now := new(defaults)
		if old := c.defaults[t]; old != nil {
			now.list = append(now.list, old.list...)
		}
		props = dc.Tables.Contents(props)
		dc.checkNil(L, f, t, props)
		for k, v := props.Next(lua.LNil); k != lua.LNil; k, v = props.Next(k) {
			d := defaultValue{
				entry:  schema.Entry{Key: keyText(k), Val: dc.convert.property(v)},
				locate: locator{source: dc.source, typ: t, node: f.node, file: f.file},
			}
			if err := dc.checkDefault(t, &d); err != nil {
				for _, e := range err {
					e.Subject, e.Notes = t.Name+".defaults", dc.source.chain(L, f)
				}
				dc.report.mistakes = append(dc.report.mistakes, err...)
				continue
			}
			now.set(d)
		}
		if c.defaults == nil {
			c.defaults = make(map[*resource.Type]*defaults)
		}
		c.defaults[t] = now
		return 0
	}
}

// setCommonDefaults is ccm.defaults: from the call to the end of the file, declarations of every
// type have these common properties.
func (dc *declarer) setCommonDefaults(L *lua.LState) int {
	f := caller(L)
	props, ok := L.Get(1).(*lua.LTable)
	c := dc.source.chunkOf(f.node)
	if !ok || L.GetTop() > 1 || c == nil {
		dc.report.noteAt(L, f, fmt.Errorf("ccm.defaults: %w", diag.Expected("a table of properties").Got("%s", kindOf(L.Get(1)))), "")
		return 0
	}
	now := new(defaults)
	if c.common != nil {
		now.list = append(now.list, c.common.list...)
	}
	props = dc.Tables.Contents(props)
	common := resource.CommonSchema()
	for k, v := props.Next(lua.LNil); k != lua.LNil; k, v = props.Next(k) {
		d := defaultValue{
			entry:  schema.Entry{Key: keyText(k), Val: dc.convert.property(v)},
			locate: locator{source: dc.source, typ: dc.types[0], node: f.node, file: f.file},
		}
		var err diag.List
		switch property := common.Field(d.entry.Key); {
		case property == nil:
			err = diag.List{{Pos: d.locate.Locate(schema.Path{d.entry.Key}, true),
				Err:  diag.Missing(fmt.Sprintf("property %q", d.entry.Key), "in every type"),
				Hint: diag.DidYouMean(d.entry.Key, common.Names())}}
		case property.Name == "alias":
			err = diag.List{{Pos: d.locate.Locate(schema.Path{d.entry.Key}, true), Err: errName}}
		default:
			err = dc.checkDefault(dc.types[0], &d)
		}
		for _, e := range err {
			e.Subject, e.Notes = "ccm.defaults", dc.source.chain(L, f)
		}
		if dc.report.mistakes = append(dc.report.mistakes, err...); len(err) == 0 {
			now.set(d)
		}
	}
	c.common = now
	return 0
}

func (d *defaults) set(v defaultValue) {
	for i := range d.list {
		if d.list[i].names[0] == v.names[0] {
			d.list[i] = v
			return
		}
	}
	d.list = append(d.list, v)
}

var errName = diag.SubjectCannot("the name", "have a default")

// checkDefault sets the names of d and returns the mistakes in its value that do not
// depend on other properties.
func (dc *declarer) checkDefault(t *resource.Type, d *defaultValue) diag.List {
	d.names = d.locate.spellings(d.entry.Key)
	if f := t.Properties().Field(d.entry.Key); f != nil {
		d.appends = f.Added
	}
	if d.names[0] == t.Schema().Name().Name || d.entry.Key == "1" {
		return diag.List{{Pos: d.locate.Locate(schema.Path{t.Schema().Name().Name}, true), Err: errName}}
	}
	entries := []schema.Entry{d.entry}
	if path, f := findUnsupported(entries); f != "" {
		return diag.List{diag.At(d.locate.Locate(path, false),
			fmt.Errorf("%s: %w", path[:1], diag.SubjectCannot("a property", "hold %s", f)))}
	}
	tab := &schema.Table{Entries: entries, Positions: tableLocator{&d.locate}}
	err := t.Properties().Decode(tab, reflect.New(t.Schema().GoType).Interface(), new(resource.Common))
	var all, mistakes diag.List
	all.Add(err)
	for _, e := range all {
		if !e.Pos.IsZero() {
			mistakes = append(mistakes, e)
		}
	}
	return mistakes
}

// A tableLocator is a Locator without a position for the table as a whole, so that
// mistakes about missing properties have none.
type tableLocator struct{ *locator }

// Locate implements schema.Locator.
func (p tableLocator) Locate(path schema.Path, key bool) diag.Pos {
	if len(path) == 0 {
		return diag.Pos{}
	}
	return p.locator.Locate(path, key)
}
