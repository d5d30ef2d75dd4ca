package resource

import (
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
)

// An ID names a resource. It is unique in a catalog.
type ID struct{ Type, Name string }

// String formats id as scripts and reports write it: file#/etc/motd.
func (id ID) String() string { return id.Type + "#" + id.Name }

// ParseID is the inverse of String. The name may hold further # signs.
func ParseID(s string) (ID, error) {
	typ, name, ok := strings.Cut(s, "#")
	if !ok || typ == "" || name == "" {
		return ID{}, diag.Expected("a reference such as file#/etc/motd").Got("%q", s)
	}
	return ID{typ, name}, nil
}

// A Reference is a reference to a resource by its name or alias.
type Reference ID

// UnmarshalText reads type#name or type#alias.
func (r *Reference) UnmarshalText(text []byte) error {
	id, err := ParseID(string(text))
	*r = Reference(id)
	return err
}

// String formats r as it was written.
func (r Reference) String() string { return ID(r).String() }

// PropertyKind implements schema.KindReporter.
func (Reference) PropertyKind() string { return "ref" }

// JSONSchema implements schema.JSONSchemer.
func (Reference) JSONSchema() map[string]any {
	return map[string]any{"type": "string", "pattern": "^[^#]+#.+$"}
}

// LuaType implements schema.LuaTyper: a handle is a reference too.
func (Reference) LuaType() string { return "string|ccm.Handle" }
