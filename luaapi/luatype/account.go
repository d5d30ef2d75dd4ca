package luatype

import (
	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/overlay"
)

// pendingAccount is host.pending_user(name) and host.pending_group(name): in a plan, the user or
// group as earlier resources will have made it; nil if no earlier resource is about it, and in a
// run. With options.needed the resource is unknown until there is a pending account. In place of the
// name there may be the number that the account gets.
func (c *call) pendingAccount(kind overlay.LookKind) int {
	var name string
	if id, isNumber := c.L.Get(1).(lua.LNumber); !isNumber {
		name = c.str(1, "a name")
	} else if name = host.PendingName(c.view, kind, uint32(id)); name == "" {
		return c.give(lua.LNil)
	}
	needed := c.options(2, "needed").RawGetString("needed") == lua.LTrue
	a := host.PendingAccount(c.view, kind, name, needed)
	if a == nil {
		return c.give(lua.LNil)
	}
	t := c.L.CreateTable(0, 4)
	t.RawSetString("name", lua.LString(name))
	ensure := "present"
	switch {
	case a.Absent:
		ensure = "absent"
	case a.Unsure:
		ensure = "unknown"
	}
	t.RawSetString("ensure", lua.LString(ensure))
	if a.ID != overlay.NoAccount {
		t.RawSetString(map[overlay.LookKind]string{overlay.UserLook: "uid", overlay.GroupLook: "gid"}[kind], lua.LNumber(a.ID))
	}
	for field, text := range map[string]string{"group": a.Group, "home": a.Home} {
		if text != "" {
			t.RawSetString(field, lua.LString(text))
		}
	}
	if kind == overlay.GroupLook {
		t.RawSetString("members", c.stringList(a.Members))
	}
	return c.give(t)
}
