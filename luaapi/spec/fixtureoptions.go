package spec

import (
	"fmt"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/schema"
)

// options are the names that the second argument of catalog may have.
var options = []string{"args", "commands", "data", "env", "facts", "files", "packages", "services"}

// An optionReader reads the tables of options that scripts give to catalog and suite.
type optionReader struct {
	in *luaapi.Interp
	L  *lua.LState
}

// given reads the second argument of catalog.
func (r optionReader) given(v lua.LValue) (g Fixture) {
	if v == lua.LNil {
		return g
	}
	t := r.table("the options", v)
	for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
		switch name := k.String(); name {
		case "facts":
			g.Facts = r.plain(name, v)
		case "data":
			g.Data = r.plain(name, v)
		case "args":
			g.Args = r.list(name, v)
		case "env":
			g.Env = r.texts(name, v)
		case "files":
			g.Files = r.texts(name, v)
		case "services":
			g.Services = r.texts(name, v)
			for _, state := range g.Services {
				if states := []string{"running", "stopped", "masked"}; !slices.Contains(states, state) {
					r.in.Throw(r.L, diag.DidYouMean(state, states), "catalog: services: %w", diag.Expected("running, stopped or masked").Got("%q", state))
				}
			}
		case "packages":
			g.Packages = r.packages(v)
		case "commands":
			g.Commands = r.commands(v)
		default:
			r.in.Throw(r.L, "", "catalog: %w", diag.Unknown("option", name, options))
		}
	}
	return g
}

func (r optionReader) table(name string, v lua.LValue) *lua.LTable {
	t, ok := v.(*lua.LTable)
	if !ok {
		r.in.Throw(r.L, "", "catalog: %w", diag.Expected("a table as %s", name).Got("%s", r.in.Show(v)))
	}
	return r.in.Tables.Listing(r.L, t)
}

// each calls a function for the fields of a table.
func (r optionReader) each(name string, v lua.LValue, do func(name string, v lua.LValue)) {
	t := r.table(name, v)
	for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
		do(k.String(), v)
	}
}

// plain returns a table as plain data.
func (r optionReader) plain(name string, v lua.LValue) map[string]any {
	val, ok := toValue(r.in, r.table(name, v), 0)
	if !ok {
		r.in.Throw(r.L, "", "catalog: %s: %w", name, diag.Expected("plain values").Got("%s", r.in.Show(v)))
	}
	tree, ok := val.Go().(map[string]any)
	if !ok {
		r.in.Throw(r.L, "", "catalog: %s: %w", name, diag.Expected("a table with names").Got("a list"))
	}
	return tree
}

// texts returns a table of strings.
func (r optionReader) texts(name string, v lua.LValue) map[string]string {
	out := make(map[string]string)
	r.each(name, v, func(key string, v lua.LValue) {
		s, ok := v.(lua.LString)
		if !ok {
			r.in.Throw(r.L, "", "catalog: %s: %w", name, diag.Expected("strings").Got("%s for %q", r.in.Show(v), key))
		}
		out[key] = string(s)
	})
	return out
}

// list returns a list of strings.
func (r optionReader) list(name string, v lua.LValue) []string {
	t := r.table(name, v)
	out := make([]string, t.Len())
	for i := range out {
		s, ok := t.RawGetInt(i + 1).(lua.LString)
		if !ok {
			r.in.Throw(r.L, "", "catalog: %s: %w", name, diag.Expected("strings").Got("%s as item %d", r.in.Show(t.RawGetInt(i+1)), i+1))
		}
		out[i] = string(s)
	}
	return out
}

func (r optionReader) packages(v lua.LValue) map[string]string {
	out := make(map[string]string)
	r.each("packages", v, func(key string, v lua.LValue) {
		switch v := v.(type) {
		case lua.LString:
			out[key] = string(v)
		case lua.LBool:
			if v {
				out[key] = "1.0"
			}
		default:
			r.in.Throw(r.L, "", "catalog: packages: %w", diag.Expected("a version or true").Got("%s for %q", r.in.Show(v), key))
		}
	})
	return out
}

// commands returns the answers of commands: an output, an exit code, or a table with stdout, stderr
// and code.
func (r optionReader) commands(v lua.LValue) map[string]Answer {
	out := make(map[string]Answer)
	r.each("commands", v, func(key string, v lua.LValue) {
		var a Answer
		switch v := v.(type) {
		case lua.LString:
			a.Stdout = string(v)
		case lua.LNumber:
			a.Code = int(v)
		case *lua.LTable:
			a.Stdout, a.Stderr = lua.LVAsString(v.RawGetString("stdout")), lua.LVAsString(v.RawGetString("stderr"))
			a.Code = int(lua.LVAsNumber(v.RawGetString("code")))
		default:
			r.in.Throw(r.L, "", "catalog: commands: %w", diag.Expected("an output, an exit code, or a table with stdout, stderr and code").Got("%s for %q", r.in.Show(v), key))
		}
		out[key] = a
	})
	return out
}

// maxDepth is the maximum depth of nested tables.
const maxDepth = 100

// toValue converts a value of Lua. It is false for a value that is not plain data.
func toValue(in *luaapi.Interp, v lua.LValue, depth int) (schema.Value, bool) {
	switch v := v.(type) {
	case *lua.LNilType:
		return schema.Value{}, true
	case lua.LBool:
		return schema.BoolValue(bool(v)), true
	case lua.LNumber:
		return schema.NumberValue(float64(v)), true
	case lua.LString:
		return schema.StringValue(string(v)), true
	case *lua.LTable:
		if depth == maxDepth {
			return schema.Value{}, false
		}
		return tableValue(in, in.Tables.Contents(v), depth)
	}
	return schema.Value{}, false
}

func tableValue(in *luaapi.Interp, t *lua.LTable, depth int) (schema.Value, bool) {
	tab := new(schema.Table)
	var items []schema.Value
	for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
		val, ok := toValue(in, v, depth+1)
		if !ok {
			return val, false
		}
		if _, isNumber := k.(lua.LNumber); isNumber {
			items = append(items, val)
			continue
		}
		tab.Entries = append(tab.Entries, schema.Entry{Key: k.String(), Val: val})
	}
	if len(items) > 0 {
		return schema.ListValue(items...), len(tab.Entries) == 0
	}
	return schema.MapValue(tab), true
}

// fromValue converts a property to a value of Lua.
func fromValue(L *lua.LState, v schema.Value) lua.LValue {
	switch v.Kind {
	case schema.Bool:
		return lua.LBool(v.B)
	case schema.Int:
		return lua.LNumber(v.I)
	case schema.Float:
		return lua.LNumber(v.F)
	case schema.String, schema.Text, schema.Ref:
		return lua.LString(v.S)
	case schema.List:
		t := L.CreateTable(len(v.Items()), 0)
		for i, item := range v.Items() {
			t.RawSetInt(i+1, fromValue(L, item))
		}
		return t
	case schema.Map:
		t := L.CreateTable(0, len(v.Table().Entries))
		for _, e := range v.Table().Entries {
			t.RawSetString(e.Key, fromValue(L, e.Val))
		}
		return t
	}
	return lua.LNil
}

// showValue writes a property for a message.
func showValue(v schema.Value) string {
	switch v.Kind {
	case schema.Nil:
		return "nothing"
	case schema.String, schema.Text, schema.Ref:
		return fmt.Sprintf("%q", v.S)
	case schema.List:
		parts := make([]string, len(v.Items()))
		for i, item := range v.Items() {
			parts[i] = showValue(item)
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	case schema.Map:
		var parts []string
		for _, e := range v.Table().Entries {
			parts = append(parts, e.Key+" = "+showValue(e.Val))
		}
		slices.Sort(parts)
		return "{ " + strings.Join(parts, ", ") + " }"
	}
	return fmt.Sprint(v.Go())
}
