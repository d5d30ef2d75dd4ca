package luatype

import (
	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/unpack"
	"github.com/luaccm/ccm/runtime/safepath"
)

// copyTree is host.copy_tree(source, directory, names, options): it copies files and directories,
// given by their paths below a source directory on the script's machine, to a directory. See
// [unpack.CopyTree]. Attributes that are not given stay unchanged; new files have the mode of their
// source, and new directories 0755.
func (a *action) copyTree() int {
	list, err := a.plain(a.L.Get(3), 0)
	a.must(err)
	names, ok := list.([]any)
	if !ok && list != nil {
		a.fail("%w", diag.Expected("a list of paths as argument 3").Got("%s", describe(a.L.Get(3))))
	}
	opts := a.options(4, "owner", "group", "mode", "dir_mode", "links", "hardlinks")
	x := unpack.Copy{Source: a.path(1), Directory: a.path(2), Attr: a.copyAttr(opts), Links: copyLinks[lua.LVAsString(opts.RawGetString("links"))]}
	h := a.host
	if lua.LVAsString(opts.RawGetString("hardlinks")) == "keep" {
		h = host.KeepHardLinks(h)
	}
	for _, name := range names {
		x.Names = append(x.Names, raw(name))
	}
	a.must(unpack.CopyTree(a.in.Context(), h, x))
	return 0
}

// copyLinks are the values of options.links.
var copyLinks = map[string]unpack.CopyLinks{linksFollow: unpack.FollowLinks, linksReplace: unpack.ReplaceLinks}

// copyAttr returns the function that computes owner and mode of copies.
func (a *action) copyAttr(opts *lua.LTable) func(source, have safepath.Info, made safepath.Attr) safepath.Attr {
	owner := a.account(opts, "owner", a.view.UserID)
	group := a.account(opts, "group", a.view.GroupID)
	modes := make(map[safepath.FileKind]uint32)
	for name, kind := range map[string]safepath.FileKind{"mode": safepath.Regular, "dir_mode": safepath.Directory} {
		if v := opts.RawGetString(name); v != lua.LNil {
			modes[kind] = a.mode(v)
		}
	}
	return func(source, have safepath.Info, attr safepath.Attr) safepath.Attr {
		switch {
		case have.Kind != safepath.Missing:
			attr = safepath.Attr{UID: have.UID, GID: have.GID, Mode: have.Mode}
		case source.Kind != safepath.Directory:
			attr.Mode = source.Mode
		}
		if owner != nil {
			attr.UID = *owner
		}
		if group != nil {
			attr.GID = *group
		}
		if mode, ok := modes[source.Kind]; ok {
			attr.Mode = mode
		}
		return attr
	}
}

// account returns the number of a user or group among options, nil if it is not given.
func (a *action) account(opts *lua.LTable, name string, number func(string) (uint32, error)) *uint32 {
	v := opts.RawGetString(name)
	if v == lua.LNil {
		return nil
	}
	id, err := number(lua.LVAsString(v))
	a.must(err)
	return &id
}
