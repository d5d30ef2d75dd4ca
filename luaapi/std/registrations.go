package std

import (
	"maps"
	"slices"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/registration"
)

func registrationsLibrary() *Library {
	return &Library{
		Name: "registrations",
		Doc:  "Finds services registered by machines (register_when_stable).",
		Funcs: []Func{{
			Signature: `registrations(query?: { cluster?: string, protocol?: string, service?: string, address?: string }): table[]`,
			Doc: "Returns the services of the NATS registry that match the query, sorted by address and port. " +
				"Omitted fields and \"*\" match anything. Each service is a table with cluster, protocol, " +
				"service, address, priority and annotations, and with port and ttl if set. Without a match the " +
				"list is empty. A registry that does not respond is an error.",
			Example: `registrations({ service = "web" })[1].address`, Result: `"192.0.2.1"`,
			Fn: findRegistrations,
		}},
	}
}

func findRegistrations(c *call) int {
	if c.Registrations == nil {
		c.fail("not available here")
	}
	query := func(name string) string { return c.optionStr(1, name, "*") }
	found, err := c.Registrations(query("cluster"), query("protocol"), query("service"), query("address"))
	c.must(err)
	list := c.newArray(len(found))
	for _, e := range found {
		list.Append(registrationTable(c.L, e))
	}
	return c.give(list)
}

// registrationTable returns an entry as a table of the script.
func registrationTable(L *lua.LState, e *registration.Entry) *lua.LTable {
	t, annotations := L.NewTable(), L.NewTable()
	for _, field := range []struct{ name, val string }{{"cluster", e.Cluster}, {"protocol", e.Protocol}, {"service", e.Service}, {"address", e.Address}} {
		t.RawSetString(field.name, lua.LString(field.val))
	}
	t.RawSetString("priority", lua.LNumber(e.Priority))
	if port, ok := e.Port.(int64); ok {
		t.RawSetString("port", lua.LNumber(port))
	}
	if e.TTL != nil {
		t.RawSetString("ttl", lua.LString(e.TTL.String()))
	}
	for _, name := range slices.Sorted(maps.Keys(e.Annotations)) {
		annotations.RawSetString(name, lua.LString(e.Annotations[name]))
	}
	t.RawSetString("annotations", annotations)
	return t
}
