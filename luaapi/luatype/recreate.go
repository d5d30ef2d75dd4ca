package luatype

import (
	"context"
	"maps"
	"slices"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// callRecreate asks the script how to make a thing again that is removed: with which properties, and with
// which if these cannot be applied. A text is the reason why it cannot be made again. A third result lists declarations of other types that come first.
func (d *definition) callRecreate(ctx context.Context, v *host.View, want *resource.Properties, have any) (list []resource.Declaration, err error) {
	L := d.values()
	out, err := d.invoke(ctx, access{view: v, function: "recreate"}, d.recreate, 3, d.luaWant(L, want), luaOf(L, have.(State).Data), d.lib.lookHost(L))
	if err != nil {
		return nil, err
	}
	if t, ok := out[2].(*lua.LTable); ok {
		for i := range t.Len() {
			row, _ := t.RawGetInt(i + 1).(*lua.LTable)
			if row == nil || lua.LVAsString(row.RawGetInt(1)) == "" {
				return nil, d.blame(d.recreate, "recreate", "third result: %w", diag.Expected(`a list such as { { "group", { name = "www" } } }`).Got("%s", describe(t.RawGetInt(i+1))))
			}
			properties, err := d.declared(row.RawGetInt(2), nil)
			if err != nil {
				return nil, err
			}
			list = append(list, resource.Declaration{Type: lua.LVAsString(row.RawGetInt(1)), Properties: properties})
		}
	}
	own := resource.Declaration{Type: d.name}
	switch reason := out[0].(type) {
	case *lua.LNilType:
		return list, nil
	case lua.LString:
		own.Properties, own.Lost = d.named(want), string(reason)
		return append(list, own), nil
	}
	if own.Properties, err = d.declared(out[0], want); err == nil && out[1] != lua.LNil {
		own.Otherwise, err = d.declared(out[1], want)
	}
	if err != nil {
		return nil, err
	}
	for _, e := range own.Properties.Entries {
		if f := d.schema.Field(e.Key); f != nil && f.Secret {
			own.Secrets = append(own.Secrets, e.Val.Texts()...)
		}
	}
	return append(list, own), nil
}

// named returns the name of a resource as properties.
func (d *definition) named(want *resource.Properties) *schema.Table {
	tab := new(schema.Table)
	tab.Set(d.schema.Name().Name, schema.StringValue(want.Name()))
	return tab
}

// declared returns a table of properties. Those of the type itself get the name of want, and are not absent.
func (d *definition) declared(v lua.LValue, want *resource.Properties) (*schema.Table, error) {
	t, ok := v.(*lua.LTable)
	if !ok {
		return nil, d.blame(d.recreate, "recreate", "%w", diag.Expected("a table of properties").Got("%s", describe(v)))
	}
	plain, err := d.lib.plain(t, 0)
	if err != nil {
		return nil, d.blame(d.recreate, "recreate", "%w", err)
	}
	tab, fields := new(schema.Table), d.schema
	if want != nil {
		tab = d.named(want)
	}
	names, _ := plain.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if want != nil && (fields.Field(name) == nil || name == "ensure" && names[name] == absent) {
			continue // a result of status that is no property
		}
		tab.Set(name, schema.ValueOf(names[name]))
	}
	return tab, nil
}
