package spec

import (
	"fmt"
	"reflect"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// hasResource is assert.resource(cat, id, properties).
func hasResource(as *asserter, L *lua.LState, a *assertArgs) (bool, string, string) {
	c, id := catalogOf(as.in, L, a.at(0)), idOf(as.in, L, a.at(1))
	i := c.index(id)
	if i < 0 {
		return false, "Expected " + c.missing(id), ""
	}
	x := c.Catalog.Catalog().Resources[i]
	negated := fmt.Sprintf("Expected no resource %s, but it is declared at %s", id, x.Pos)
	if a.at(2) == lua.LNil {
		return true, "", negated
	}
	want, ok := a.at(2).(*lua.LTable)
	if !ok {
		as.in.Throw(L, "", "assert.resource: %w", diag.Expected("a table of properties").Got("%s", as.in.Show(a.at(2))))
	}
	lines := as.differing(L, x, as.in.Tables.Contents(want))
	text := fmt.Sprintf("%s, declared at %s, has other properties than expected.\n%s", x.ID, x.Pos, strings.Join(lines, "\n"))
	return len(lines) == 0, text, negated
}

// differing lists the properties that differ from the wanted values. The wanted values are decoded
// as in a script, so that 644 and "0644" are the same mode.
func (as *asserter) differing(L *lua.LState, x *resource.Resource, want *lua.LTable) (lines []string) {
	mix, have := x.Type.Properties(), properties(x)
	for k, v := want.Next(lua.LNil); k != lua.LNil; k, v = want.Next(k) {
		f := fieldOf(mix, k.String())
		if f == nil {
			as.in.Throw(L, diag.DidYouMean(k.String(), mix.Names()), "assert.resource: %s: %w", x.Type.Name, diag.Unknown("property", k.String(), nil))
		}
		if id, ok := v.(*lua.LUserData); ok {
			v = lua.LString(L.ToStringMeta(id).String())
		}
		wanted, ok := toValue(as.in, v, 0)
		if !ok {
			as.in.Throw(L, "", "assert.resource: %s: %w", f.Name, diag.Expected("a plain value").Got("%s", as.in.Show(v)))
		}
		got, _ := have.Get(f.Name)
		wanted, mistake := readAs(x, f, wanted)
		if mistake != nil {
			as.in.Throw(L, mistake.Hint, "assert.resource: %w", mistake.Err)
		}
		if !reflect.DeepEqual(got.Go(), wanted.Go()) {
			lines = append(lines, fmt.Sprintf("%s: %v", f.Name, diag.Expected("%s", showValue(wanted)).Got("%s", showValue(got))))
		}
	}
	return lines
}

// readAs returns a value in the form of the property.
func readAs(x *resource.Resource, f *schema.Field, v schema.Value) (schema.Value, *diag.Error) {
	mix := x.Type.Properties()
	spec, common := reflect.New(x.Type.Schema().GoType).Interface(), new(resource.Common)
	tab := &schema.Table{Entries: []schema.Entry{{Key: f.Name, Val: v}}, Positions: scriptLocator{}}
	var list diag.List
	list.Add(mix.Decode(tab, spec, common))
	for _, e := range list {
		if !e.Pos.IsZero() {
			return v, e
		}
	}
	got, _ := mix.Conceal(mix.Encode(spec, common)).Get(f.Name)
	return got, nil
}

// scriptLocator gives mistakes in properties a position, but none to mistakes about missing
// properties.
type scriptLocator struct{}

// Locate implements schema.Locator.
func (scriptLocator) Locate(path schema.Path, _ bool) diag.Pos {
	if len(path) == 0 {
		return diag.Pos{}
	}
	return diag.Pos{File: "spec"}
}

func fieldOf(mix schema.Union, name string) *schema.Field {
	for _, s := range mix {
		if f := s.Field(name); f != nil {
			return f
		}
	}
	return nil
}

// inOrder is assert.order(cat, a, b, ...).
func inOrder(as *asserter, L *lua.LState, a *assertArgs) (bool, string, string) {
	c := catalogOf(as.in, L, a.at(0))
	last, names := -1, []string{}
	for _, v := range a.list[1:] {
		id := idOf(as.in, L, v)
		i := c.index(id)
		if i < 0 {
			return false, "Expected " + c.missing(id), "Expected " + c.missing(id)
		}
		names = append(names, id.String())
		if i <= last {
			return false, fmt.Sprintf("Expected %s.\nThe order is:\n%s", strings.Join(names, " before "), strings.Join(c.names(), "\n")), ""
		}
		last = i
	}
	return true, "", "Expected another order than " + strings.Join(names, ", ") + "."
}

// stable is assert.stable(cat).
func stable(as *asserter, L *lua.LState, a *assertArgs) (bool, string, string) {
	text := catalogOf(as.in, L, a.at(0)).outcome(L).trouble()
	return text == "", text, "Expected the catalog not to be stable, but it is."
}
