package luaapi

import (
	"fmt"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
)

// A handle is what a constructor returns: a userdata that holds a
// *resource.Resource, a *failedDeclaration or a *partialDeclaration.
type (
	// A failedDeclaration has mistakes and is not in the catalog. It has a handle so that
	// the script can go on to its next mistake.
	failedDeclaration struct{ id resource.ID }
	// A partialDeclaration is one whose properties come in the next call, as in
	// file "/etc/motd" { ... }.
	partialDeclaration struct {
		typ   *resource.Type
		names []lua.LValue
	}
)

// handleOf returns the ID of the resource that v is a handle of.
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
	return &lua.LUserData{Value: x, Env: dc.in.vm.Env, Metatable: dc.handles}
}

// openHandles makes the metatable of handles.
func (dc *declarer) openHandles() {
	mt := dc.in.vm.CreateTable(0, 8)
	for _, m := range []struct {
		event string
		fn    lua.LGFunction
	}{
		{"__index", dc.handleIndex},
		{"__newindex", dc.handleAssign},
		{"__tostring", func(L *lua.LState) int {
			id, _ := handleOf(L.Get(1))
			L.Push(lua.LString(id.String()))
			return 1
		}},
		{"__concat", func(L *lua.LState) int {
			L.Push(concatenable(L.Get(1)) + concatenable(L.Get(2)))
			return 1
		}},
		{"__eq", func(L *lua.LState) int {
			a, _ := handleOf(L.Get(1))
			b, _ := handleOf(L.Get(2))
			L.Push(lua.LBool(a == b))
			return 1
		}},
		{"__call", dc.handleCall},
	} {
		mt.RawSetString(m.event, dc.in.vm.NewFunction(m.fn))
	}
	mt.RawSetString("__metatable", lua.LFalse)
	dc.handles = mt
}

// concatenable returns a handle, a string or a number as an operand of .. does.
func concatenable(v lua.LValue) lua.LString {
	if id, ok := handleOf(v); ok {
		return lua.LString(id.String())
	}
	return lua.LString(lua.LVAsString(v))
}

var handleFields = []string{"type", "name", "id", "changed", "failed", "outcome", "stdout", "stderr", "exit_code"}

func (dc *declarer) handleIndex(L *lua.LState) int {
	id, _ := handleOf(L.Get(1))
	switch key := L.Get(2).String(); key {
	case "type":
		L.Push(lua.LString(id.Type))
	case "name":
		L.Push(lua.LString(id.Name))
	case "id":
		L.Push(lua.LString(id.String()))
	case "changed", "failed", "outcome", "stdout", "stderr", "exit_code":
		L.Push(dc.in.deferred.resultField(L, L.CheckUserData(1), key))
	default:
		hint := diag.DidYouMean(key, handleFields)
		if hint == "" {
			hint = "a handle has type, name and id, and later changed, failed and outcome"
		}
		dc.in.report.throw(L, hint, "%s has no field %q", id, key)
	}
	return 1
}

func (dc *declarer) handleAssign(L *lua.LState) int {
	id, _ := handleOf(L.Get(1))
	dc.in.report.throw(L, "give all properties when you declare it", "%s cannot be changed any more", id)
	return 0
}

// handleCall completes a pending declaration.
func (dc *declarer) handleCall(L *lua.LState) int {
	ud := L.CheckUserData(1)
	p, ok := ud.Value.(*partialDeclaration)
	if !ok {
		id, _ := handleOf(ud)
		dc.in.report.note(L, fmt.Errorf("%s is declared already", id), fmt.Sprintf("write its properties right behind its name: %s %q { ... }", id.Type, id.Name))
		L.Push(ud)
		return 1
	}
	props, ok := L.Get(2).(*lua.LTable)
	if !ok || L.GetTop() > 2 {
		dc.in.report.note(L, fmt.Errorf("want a table of properties behind %s %q, got %s", p.typ.Name, p.names[0].String(), kindOf(L.Get(2))), "")
		return dc.failedHandles(L, p.typ, p.names)
	}
	return dc.declareTable(L, caller(L), p.typ, p.names, props)
}
