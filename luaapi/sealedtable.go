package luaapi

import (
	"maps"
	"slices"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/data"
)

// opened returns the plain text of an encrypted value.
func (ts *Tables) opened(s *data.SealedValue) lua.LValue {
	text, err := s.Text()
	if err != nil {
		ts.report.throwError(ts.vm, err)
	}
	return lua.LString(text)
}

// sealedNames returns the names in a table whose values are made on first use: encrypted texts,
// and lists with some. A list has to be complete for its length to be known.
func sealedNames(v map[string]any) []string {
	var names []string
	for name, val := range v {
		switch val.(type) {
		case *data.SealedValue, []any:
			if data.HoldsSealed(val) {
				names = append(names, name)
			}
		}
	}
	return names
}

// sealedTable is Value for a table with such names. Each is decrypted on first use.
func (ts *Tables) sealedTable(path string, v map[string]any, sealed []string) lua.LValue {
	names := slices.Sorted(maps.Keys(v))
	contents := ts.vm.CreateTable(0, len(v))
	for _, name := range names {
		if !slices.Contains(sealed, name) {
			contents.RawSetString(name, ts.nestedValue(v[name], func() string { return path + "." + name }))
		}
	}
	open := func(name string) (lua.LValue, error) {
		if s, ok := v[name].(*data.SealedValue); ok {
			text, err := s.Text()
			if err != nil {
				return lua.LNil, err
			}
			contents.RawSetString(name, lua.LString(text))
			return lua.LString(text), nil
		}
		val := ts.Value(path+"."+name, v[name])
		contents.RawSetString(name, val)
		return val, nil
	}
	return ts.readonly(readonlyTable{name: path, contents: contents, missingField: func(key lua.LValue) (lua.LValue, error) {
		name := keyText(key)
		if slices.Contains(sealed, name) {
			return open(name)
		}
		if _, ok := v[name]; ok {
			return lua.LNil, nil // it exists and is nil
		}
		return lua.LNil, &unknownNameError{name, path, names}
	}, fill: func() error {
		for _, name := range sealed {
			if contents.RawGetString(name) == lua.LNil {
				if _, err := open(name); err != nil {
					return err
				}
			}
		}
		return nil
	}})
}
