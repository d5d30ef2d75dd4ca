package luatype

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/safepath"
)

// compare is host.compare(source, directory, options): the differences between the directory and a
// source directory on the script's machine, as lists of paths. Files without a difference do not
// reach the script, even if there are 10,000. Without a source, only the attributes of the
// directory are compared, with options.recurse also those below.
func (c *call) compare() int {
	dir := c.path(2)
	opts := c.options(3, "exclude", "owner", "group", "mode", "dir_mode", "recurse", "links")
	x := c.comparison(opts)
	top, err := c.view.Lstat(dir)
	c.must(err)
	if top.Kind != safepath.Missing && !x.fits(top) {
		x.attributes = append(x.attributes, ".")
	}
	if c.L.Get(1) == lua.LNil {
		c.must(x.attributesBelow(c, dir, opts.RawGetString("recurse") == lua.LTrue))
		return c.give(x.table(c))
	}
	source := c.path(1)
	err = c.view.Sources().CompareTree(c.in.Context(), source, dir,
		func(e safepath.TreeEntry) (bool, error) {
			if e.Kind != safepath.Regular && e.Kind != safepath.Directory {
				return false, clash(fmt.Sprintf("%s: %v", joined(source, e.Rel), diag.Expected("files and directories").Found("a %s", kinds[e.Kind])))
			}
			return x.matters(e)
		},
		func(p host.TreePair) error {
			if p.Source.Kind == safepath.Regular && (p.Differs || p.Target.Kind != safepath.Regular) {
				x.bytes += p.Source.Size
			}
			if p.Target.Kind == safepath.Symlink && p.Source.Kind != safepath.Missing && x.links != "" {
				return x.addLink(c, p, source, dir)
			}
			return x.add(p, dir)
		})
	if len(x.extra) > 0 { // mounted file systems do not belong to the directory
		mounts, err := c.view.MountsBelow(dir)
		c.must(err)
		x.extra = slices.DeleteFunc(x.extra, mounts.Hold)
	}
	t := x.table(c)
	if what, ok := errors.AsType[clash](err); ok {
		t.RawSetString("clash", lua.LString(what))
		return c.give(t)
	}
	c.must(err)
	return c.give(t)
}

// table returns the lists as a table for the script.
func (x *comparison) table(c *call) *lua.LTable {
	t := c.L.CreateTable(0, 4)
	for name, list := range map[string][]string{"changed": x.changes, "missing": x.missing, "attributes": x.attributes, "extra": x.extra} {
		t.RawSetString(name, c.stringList(list))
	}
	t.RawSetString("bytes", lua.LNumber(x.bytes))
	return t
}

// attributesBelow notes the paths below the directory with other attributes than the wanted ones.
// Without recurse it does nothing.
func (x *comparison) attributesBelow(c *call, dir string, recurse bool) error {
	if !recurse {
		return nil
	}
	entries, err := c.view.Tree(c.in.Context(), dir, safepath.MaxNames)
	if err != nil {
		return err
	}
	for _, e := range entries {
		ok, err := x.matters(e)
		if err != nil {
			return err
		}
		if ok && !x.fits(e.Info) {
			x.attributes = append(x.attributes, e.Rel)
		}
	}
	return nil
}

// A clash is an object that is in the way of a copy.
type clash string

// Error describes the object.
func (e clash) Error() string { return string(e) }

// A comparison has the rules of how a directory has to match its source, and the differences.
type comparison struct {
	exclude       []string
	owner, group  string                                   // names or numbers; "" for any
	links         string                                   // of types that edit; "" for refuse
	mode, dirMode func(have uint32, directory bool) uint32 // nil for any
	userName      func(uid uint32) string
	groupName     func(gid uint32) string
	ignoredDirs   map[string]bool // directories that do not matter
	changes       []string
	missing       []string
	attributes    []string
	extra         []string
	bytes         int64 // of the files among changes and missing
}

func (c *call) comparison(opts *lua.LTable) *comparison {
	x := &comparison{
		owner: lua.LVAsString(opts.RawGetString("owner")), group: lua.LVAsString(opts.RawGetString("group")),
		links:    lua.LVAsString(opts.RawGetString("links")),
		userName: c.view.UserName, groupName: c.view.GroupName, ignoredDirs: make(map[string]bool),
	}
	for name, to := range map[string]*func(uint32, bool) uint32{"mode": &x.mode, "dir_mode": &x.dirMode} {
		if text := ModeChange(lua.LVAsString(opts.RawGetString(name))); text != "" {
			var err error
			*to, err = text.parse()
			c.must(err)
		}
	}
	patterns, err := c.plain(opts.RawGetString("exclude"), 0)
	c.must(err)
	list, _ := patterns.([]any)
	for _, p := range list {
		x.exclude = append(x.exclude, raw(p))
	}
	return x
}

// matters reports whether an entry of a tree takes part in the comparison.
func (x *comparison) matters(e safepath.TreeEntry) (bool, error) {
	out := x.ignoredDirs[path.Dir(e.Rel)]
	for _, pattern := range x.exclude {
		for _, name := range []string{e.Rel, path.Base(e.Rel)} {
			ok, err := path.Match(pattern, name)
			if err != nil {
				return false, diag.Expected(`a pattern such as "*.conf"`).Got("%q", pattern)
			}
			out = out || ok
		}
	}
	if out && e.Kind == safepath.Directory {
		x.ignoredDirs[e.Rel] = true
	}
	return !out, nil
}

// add notes the difference at one path.
func (x *comparison) add(p host.TreePair, dir string) error {
	switch {
	case p.Source.Kind == safepath.Missing:
		x.extra = append(x.extra, p.Rel)
	case p.Target.Kind == safepath.Missing:
		x.missing = append(x.missing, p.Rel)
	case p.Source.Kind != p.Target.Kind:
		way := ""
		if p.Target.Kind == safepath.Symlink && x.links == linksRefuse {
			way = ` (links = "replace" puts the copy in its place)`
			if p.Source.Kind == safepath.Regular {
				way = ` (links = "follow" writes to its target, links = "replace" puts the copy in its place)`
			}
		}
		return clash(fmt.Sprintf("%s: %v%s", joined(dir, p.Rel), diag.Expected("a %s", kinds[p.Source.Kind]).Found("a %s, which is not replaced", kinds[p.Target.Kind]), way))
	case p.Differs:
		x.changes = append(x.changes, p.Rel)
	case !x.fits(p.Target):
		x.attributes = append(x.attributes, p.Rel)
	}
	return nil
}

// addLink notes the difference at a path with a symbolic link, in whose place a copy is to be.
func (x *comparison) addLink(c *call, p host.TreePair, source, dir string) error {
	at := joined(dir, p.Rel)
	switch {
	case x.links == linksReplace:
		x.changes = append(x.changes, p.Rel)
		return nil
	case x.links != linksFollow || p.Source.Kind != safepath.Regular:
		return x.add(p, dir)
	}
	end, err := host.FollowLink(c.view, at)
	if err != nil {
		return err
	}
	found, err := c.view.Lstat(end)
	same := false
	if err == nil && found.Kind == safepath.Regular {
		same, err = c.view.Sources().Matches(c.in.Context(), end, joined(source, p.Rel))
	}
	switch {
	case err != nil:
		return err
	case found.Kind != safepath.Regular && found.Kind != safepath.Missing:
		return clash(fmt.Sprintf("%s: %v", at, diag.Expected("a file").Found("a link to a %s, which is not replaced", kinds[found.Kind])))
	case !same || !x.fits(found):
		x.changes = append(x.changes, p.Rel)
	}
	return nil
}

// fits reports whether a path has the wanted owner, group and mode. A wanted number is compared
// with the number.
func (x *comparison) fits(found safepath.Info) bool {
	mode := x.mode
	switch found.Kind {
	case safepath.Directory:
		mode = x.dirMode
	case safepath.Symlink, safepath.Special:
		mode = nil
	}
	return isAccount(x.owner, found.UID, x.userName) && isAccount(x.group, found.GID, x.groupName) &&
		(mode == nil || mode(found.Mode, found.Kind == safepath.Directory) == found.Mode)
}

func isAccount(want string, id uint32, name func(uint32) string) bool {
	return want == "" || want == strconv.FormatUint(uint64(id), 10) || want == name(id)
}
