package repl

import (
	"io"
	"strings"
	"testing"
	"testing/fstest"

	lua "github.com/yuin/gopher-lua"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/luaapi/luatype"
	"github.com/luaccm/ccm/luaapi/std"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// All documented names exist, and all names are documented.
func TestTopics(t *testing.T) {
	view := &host.New(host.Options{}).View
	d, err := New(Options{
		Script: luaapi.Options{Builder: new(catalog.Builder), Library: fstest.MapFS{}, Extend: func(in *luaapi.Interp) {
			std.Options{View: view}.Extend(in)
			luatype.Extend(in)
		}},
		Reset: func() (*resource.Registry, *facts.Facts, error) {
			reg, err := resource.NewRegistry()
			return reg, facts.Static(nil), err
		},
		Out: io.Discard,
	})
	require.NoError(t, err)
	defer d.Close()
	for _, b := range builtins {
		name, _, _ := strings.Cut(b.signature, "(")
		v, _ := d.env.follow(splitName(name))
		require.NotNil(t, v, "%s is documented and does not exist", name)
		_, isFunction := v.(*lua.LFunction)
		require.Equal(t, isFunction, strings.Contains(b.signature, "("), "%s: its signature", name)
		require.True(t, strings.HasSuffix(b.doc, ".") || strings.HasSuffix(b.doc, "end"), "%s: %s", name, b.doc)
	}
	for _, name := range d.env.console.GlobalNames() {
		if name == lastValue {
			continue
		}
		_, ok := d.manual.topic(name)
		v, _ := d.env.console.Global(name)
		table, isTable := v.(*lua.LTable)
		if !isTable {
			require.True(t, ok, "%s is there and is not documented", name)
			continue
		}
		if name == "_G" || name == "facts" || name == "env" || name == "arg" || name == "data" || name == "std" {
			continue
		}
		for _, field := range d.env.console.FieldNames(table) {
			if field == name {
				continue // the metamethod of calling the table
			}
			_, ok := d.manual.topic(name + "." + field)
			require.True(t, ok, "%s.%s is there and is not documented", name, field)
		}
	}
}
