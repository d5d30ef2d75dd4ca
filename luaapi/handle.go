package luaapi

import (
	"fmt"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
)

// A handle is what a constructor returns: a userdata that holds a
// *resource.Resource, a *failedDeclaration, a *partialDeclaration or a handleGroup.
type (
	// A failedDeclaration has mistakes and is not in the catalog. Its handle lets the script go on
	// to further mistakes.
	failedDeclaration struct{ id resource.ID }
	// A partialDeclaration waits for its properties in the next call, as in
	// file "/etc/motd" { ... }.
	partialDeclaration struct {
		typ   *resource.Type
		names []lua.LValue
	}
	// A handleGroup stands for the handles of all names in one call.
	handleGroup []lua.LValue
)

// groupOf returns the handles in a group.
func groupOf(v lua.LValue) (group handleGroup, ok bool) {
	if ud, isData := v.(*lua.LUserData); isData {
		group, ok = ud.Value.(handleGroup)
	}
	return group, ok
}

// String lists the resources.
func (g handleGroup) String() string {
	ids := make([]string, len(g))
	for i, h := range g {
		ids[i] = handleText(h)
	}
	return strings.Join(ids, ", ")
}

// handleText returns a handle as text.
func handleText(v lua.LValue) string {
	if g, ok := groupOf(v); ok {
		return g.String()
	}
	id, _ := handleOf(v)
	return id.String()
}

// handleOf returns the ID of the resource of a handle.
func handleOf(v lua.LValue) (resource.ID, bool) {
	ud, ok := v.(*lua.LUserData)
	if !ok {
		return resource.ID{}, false
	}
	switch x := ud.Value.(type) {
	case *resource.Resource:
		return x.ID, true
	case *failedDeclaration:
		return x.id, true
	case *partialDeclaration:
		return resource.ID{Type: x.typ.Name, Name: x.names[0].String()}, true
	}
	return resource.ID{}, false
}

// handle returns a handle that holds x.
func (dc *declarer) handle(x any) *lua.LUserData {
	return &lua.LUserData{Value: x, Env: dc.vm.Env, Metatable: dc.handles}
}

// openHandles makes the metatable of handles.
func (dc *declarer) openHandles() {
	mt := dc.vm.CreateTable(0, 8)
	for _, m := range []struct {
		event string
		fn    lua.LGFunction
	}{
		{"__index", dc.handleIndex},
		{"__newindex", dc.handleAssign},
		{"__tostring", func(L *lua.LState) int {
			L.Push(lua.LString(handleText(L.Get(1))))
			return 1
		}},
		{"__len", func(L *lua.LState) int {
			g, ok := groupOf(L.Get(1))
			if !ok {
				dc.report.throw(L, "only handles of several names have a length", "%s is one resource", handleText(L.Get(1)))
			}
			L.Push(lua.LNumber(len(g)))
			return 1
		}},
		{"__concat", func(L *lua.LState) int {
			L.Push(concatenable(L.Get(1)) + concatenable(L.Get(2)))
			return 1
		}},
		{"__eq", func(L *lua.LState) int {
			L.Push(lua.LBool(handleText(L.Get(1)) == handleText(L.Get(2))))
			return 1
		}},
		{"__call", dc.handleCall},
	} {
		mt.RawSetString(m.event, dc.vm.NewFunction(m.fn))
	}
	mt.RawSetString("__metatable", lua.LFalse)
	dc.handles, dc.setter = mt, dc.vm.NewFunction(dc.handleSet)
}

// concatenable returns the text of a handle, a string or a number for the operator .. .
func concatenable(v lua.LValue) lua.LString {
	if g, ok := groupOf(v); ok {
		return lua.LString(g.String())
	}
	if id, ok := handleOf(v); ok {
		return lua.LString(id.String())
	}
	return lua.LString(lua.LVAsString(v))
}

var handleFields = []string{"type", "name", "id", "changed", "failed", "outcome", "stdout", "stderr", "exit_code", "set"}

func (dc *declarer) handleIndex(L *lua.LState) int {
	if L.Get(2) == lua.LString("set") {
		L.Push(dc.setter)
		return 1
	}
	if g, ok := groupOf(L.Get(1)); ok {
		L.Push(dc.groupField(L, g, L.Get(2)))
		return 1
	}
	id, _ := handleOf(L.Get(1))
	switch key := L.Get(2).String(); key {
	case "type":
		L.Push(lua.LString(id.Type))
	case "name":
		L.Push(lua.LString(id.Name))
	case "id":
		L.Push(lua.LString(id.String()))
	case "changed", "failed", "outcome", "stdout", "stderr", "exit_code":
		L.Push(dc.results.field(L, L.CheckUserData(1), key))
	default:
		hint := diag.DidYouMean(key, handleFields)
		if hint == "" {
			hint = "fields of a handle: type, name, id, set, and after the resource was applied: changed, failed, outcome"
		}
		dc.report.throw(L, hint, "%s: %w", id, diag.Unknown("field", key, nil))
	}
	return 1
}

// groupField returns a field of a group of handles: the handle of name number n, or a result that
// counts for any of them.
func (dc *declarer) groupField(L *lua.LState, g handleGroup, key lua.LValue) lua.LValue {
	if n, ok := key.(lua.LNumber); ok {
		if i := int(n); i >= 1 && i <= len(g) {
			return g[i-1]
		}
		return lua.LNil
	}
	switch field := key.String(); field {
	case "changed", "failed":
		is := lua.LFalse
		for _, h := range g {
			if dc.results.field(L, h.(*lua.LUserData), field) == lua.LTrue {
				is = lua.LTrue
			}
		}
		return is
	default:
		hint := "fields of several handles: changed, failed; [1] is the first handle"
		dc.report.throw(L, hint, "%s are %d resources: %w", g, len(g), diag.Unknown("field", field, nil))
	}
	return lua.LNil
}

func (dc *declarer) handleAssign(L *lua.LState) int {
	dc.report.throw(L, "use handle:set { "+keyText(L.Get(2))+" = ... }", "%s cannot be changed by assignment", handleText(L.Get(1)))
	return 0
}

// handleCall completes a pending declaration.
func (dc *declarer) handleCall(L *lua.LState) int {
	ud := L.CheckUserData(1)
	p, ok := ud.Value.(*partialDeclaration)
	if !ok {
		id, one := handleOf(ud)
		hint := "write the properties directly after the names"
		if one {
			hint = fmt.Sprintf("write the properties directly after the name: %s %q { ... }", id.Type, id.Name)
		}
		dc.report.note(L, diag.Already(handleText(ud), "declared"), hint)
		L.Push(ud)
		return 1
	}
	props, ok := L.Get(2).(*lua.LTable)
	if !ok || L.GetTop() > 2 {
		dc.report.note(L, diag.Expected("a table of properties after %s %q", p.typ.Name, p.names[0].String()).Got("%s", kindOf(L.Get(2))), "")
		return dc.failedHandles(L, caller(L), p.typ, p.names)
	}
	return dc.declareTable(L, caller(L), p.typ, p.names, props)
}
