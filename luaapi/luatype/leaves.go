package luatype

import (
	"fmt"
	"slices"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
)

// A type with a function leaves says what its actions will have done, so that a plan
// looks at later resources as if it had been done:
//
//	leaves = function(want, have)
//	  return { { path = want.path, kind = "link", target = want.target } }
//	end
//
// A second result says that they do more than that: true for anything, "commands" for
// what only commands report, "services" for services that start or stop.

// effectKeys are the allowed keys in the table of one effect.
var effectKeys = []string{"path", "kind", "content", "source", "target", "owner", "group", "mode", "open", "user", "uid", "gid", "members", "home", "keeps", "kept", "size"}

// callLeaves asks the script for the effects. In a run only those of removals are needed.
func (d *definition) callLeaves(want *resource.Properties, have any) (list []overlay.PathEffect, more resource.OtherEffects, err error) {
	L := d.values()
	s, known := have.(State)
	if known && s.view == nil {
		return nil, resource.UnknownEffects, nil
	}
	found := lua.LValue(lua.LNil)
	if known {
		found = luaOf(L, s.Data)
	}
	out, err := d.invoke(d.lib.in.Outer(), access{function: "leaves"}, d.leaves, 2, d.luaWant(L, want), found)
	if err != nil {
		return nil, resource.UnknownEffects, err
	}
	if out[0] == lua.LNil {
		return nil, resource.UnknownEffects, nil
	}
	if _, ok := out[0].(*lua.LTable); !ok {
		return nil, resource.UnknownEffects, d.blame(d.leaves, "leaves", "%w", diag.Expected("a list of the effects").Got("%s", describe(out[0])))
	}
	made := make(map[string]*overlay.Account)
	for i, row := range rows(out[0]) {
		p, err := readEffect(s.view, row, made)
		if err != nil {
			return nil, resource.UnknownEffects, d.blame(d.leaves, "leaves", "[%d]: %w", i+1, err)
		}
		list = append(list, p)
		if a := p.Account; a != nil && !a.Absent && !a.Unsure {
			made[accountWord(a.Kind)+a.Name] = a
		}
	}
	switch {
	case out[1] == lua.LString("commands"):
		return list, resource.CommandEffects, nil
	case out[1] == lua.LString("services"):
		return list, resource.ServiceEffects, nil
	case out[1].Type() == lua.LTString:
		return nil, resource.UnknownEffects, d.blame(d.leaves, "leaves", "second result: %w", diag.Expected(`true, "commands" or "services"`).Got("%s", describe(out[1])))
	case lua.LVAsBool(out[1]):
		return list, resource.UnknownEffects, nil
	}
	return list, resource.NoOtherEffects, nil
}

// callPrograms asks the script for the programs that an action calls. Only a plan asks: a run finds out.
func (d *definition) callPrograms(want *resource.Properties, have any, a resource.Action) (list []host.Cmd, err error) {
	s, known := have.(State)
	if !known || s.view == nil {
		return nil, nil
	}
	L := d.values()
	out, err := d.invoke(d.lib.in.Outer(), access{view: s.view, function: "programs"}, d.programs, 1, lua.LString(a.Verb), d.luaWant(L, want), luaOf(L, s.Data), d.lib.lookHost(L))
	if err != nil || out[0] == lua.LNil {
		return nil, err
	}
	wrong := func(v lua.LValue) error {
		return d.blame(d.programs, "programs", "%w", diag.Expected(`a list such as { "git", { "useradd", below_root = true } }`).Got("%s", describe(v)))
	}
	t, ok := out[0].(*lua.LTable)
	if !ok {
		return nil, wrong(out[0])
	}
	for i := range t.Len() {
		item, below := t.RawGetInt(i+1), false
		if row, ok := item.(*lua.LTable); ok {
			item, below = row.RawGetInt(1), row.RawGetString("below_root") == lua.LTrue
		}
		if name := lua.LVAsString(item); name != "" {
			list = append(list, host.Cmd{Argv: []string{name}, BelowRoot: below})
		} else {
			return nil, wrong(t.RawGetInt(i + 1))
		}
	}
	return list, nil
}

// accountWord is the field that names an account of a kind.
func accountWord(kind overlay.LookKind) string {
	return map[overlay.LookKind]string{overlay.UserLook: "user", overlay.GroupLook: "group"}[kind]
}

// readEffect reads the table of one effect. If view is nil, it leaves out owner, group and mode.
// Made are the accounts of the rows before, which may own the path.
func readEffect(v *host.View, row *lua.LTable, made map[string]*overlay.Account) (p overlay.PathEffect, err error) {
	for k, _ := row.Next(lua.LNil); k != lua.LNil; k, _ = row.Next(k) {
		if !slices.Contains(effectKeys, k.String()) {
			return p, fmt.Errorf("unknown field %s", describe(k))
		}
	}
	text := func(name string) string { return lua.LVAsString(row.RawGetString(name)) }
	if p.Account, err = accountIn(row); p.Account != nil || err != nil {
		return p, err
	}
	if err := new(Path).UnmarshalText([]byte(text("path"))); err != nil {
		return p, fmt.Errorf("path: %w", err)
	}
	p.Path = text("path")
	p.Size = int64(lua.LVAsNumber(row.RawGetString("size")))
	switch kind := text("kind"); kind {
	case "file":
		p.Kind, p.Source = safepath.Regular, text("source")
		if c, ok := row.RawGetString("content").(lua.LString); ok {
			p.Content = new(string(c))
		}
	case "link":
		p.Kind, p.Target = safepath.Symlink, text("target")
	case "directory":
		p.Kind, p.Open = safepath.Directory, lua.LVAsBool(row.RawGetString("open"))
	case "absent":
		p.KeepReason = text("kept")
		if names, ok := row.RawGetString("keeps").(*lua.LTable); ok {
			p.Keeps = make([]string, 0, names.Len())
			for i := range names.Len() {
				p.Keeps = append(p.Keeps, lua.LVAsString(names.RawGetInt(i+1)))
			}
		}
	case "":
		p.Unsure = true
	default:
		return p, fmt.Errorf("kind: %w", diag.Expected("file, directory, link, absent or nil").Got("%q", kind))
	}
	if v != nil && (p.Kind == safepath.Regular || p.Kind == safepath.Directory) {
		p.Attr, err = attrOf(v.Recording(nil), p, text, made)
	}
	return p, err
}

// accountIn returns the user or group of a row, nil if the row is not about one.
func accountIn(row *lua.LTable) (*overlay.Account, error) {
	kind, name := overlay.UserLook, lua.LVAsString(row.RawGetString("user"))
	if name == "" && row.RawGetString("path") == lua.LNil {
		kind, name = overlay.GroupLook, lua.LVAsString(row.RawGetString("group"))
	}
	if name == "" {
		return nil, nil
	}
	a := &overlay.Account{Kind: kind, Name: name, ID: overlay.NoAccount}
	number := map[overlay.LookKind]string{overlay.UserLook: "uid", overlay.GroupLook: "gid"}[kind]
	if n, ok := row.RawGetString(number).(lua.LNumber); ok {
		a.ID = uint32(n)
	}
	switch kind := lua.LVAsString(row.RawGetString("kind")); kind {
	case "":
	case "absent":
		a.Absent = true
	case "unknown":
		a.Unsure = true
	default:
		return nil, fmt.Errorf("kind: %w", diag.Expected("absent, unknown or nil for a user or group").Got("%q", kind))
	}
	if kind == overlay.UserLook {
		a.Group, a.Home = lua.LVAsString(row.RawGetString("group")), lua.LVAsString(row.RawGetString("home"))
	}
	if list, ok := row.RawGetString("members").(*lua.LTable); ok {
		for i := range list.Len() {
			a.Members = append(a.Members, lua.LVAsString(list.RawGetInt(i+1)))
		}
	}
	return a, nil
}

// attrOf returns the attributes that host.write and host.mkdir give to an existing or new path.
func attrOf(v *host.View, p overlay.PathEffect, text func(string) string, made map[string]*overlay.Account) (*safepath.Attr, error) {
	number := func(kind overlay.LookKind, name string, look func(string) (uint32, error)) (uint32, error) {
		id, err := look(name)
		if a := made[accountWord(kind)+name]; a != nil && (err != nil || a.ID != overlay.NoAccount) {
			if pending, ok := host.PendingNumber(v, a); ok {
				return pending, nil
			}
		}
		return id, err
	}

	info, err := v.Lstat(p.Path)
	if err != nil {
		return nil, nil // the action will fail, or another check tells why
	}
	attr := host.NewAttr(v, p.Path, p.Kind)
	if info.Kind == p.Kind {
		attr = safepath.Attr{UID: info.UID, GID: info.GID, Mode: info.Mode}
	}
	if owner := text("owner"); owner != "" {
		if attr.UID, err = number(overlay.UserLook, owner, v.UserID); err != nil {
			return nil, nil
		}
	}
	if group := text("group"); group != "" {
		if attr.GID, err = number(overlay.GroupLook, group, v.GroupID); err != nil {
			return nil, nil
		}
	}
	if mode := ModeChange(text("mode")); mode != "" {
		change, err := mode.parse()
		if err != nil {
			return nil, fmt.Errorf("mode: %w", err)
		}
		attr.Mode = change(attr.Mode, p.Kind == safepath.Directory)
	}
	return &attr, nil
}
