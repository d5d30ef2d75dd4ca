package luatype

import (
	"bytes"
	"context"
	"os"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/host"
)

// acts are the functions of host that change the machine, by their names.
var acts = map[string]func(c *call) int{
	"write":     (*call).write,
	"copy":      (*call).copy,
	"copy_tree": (*call).copyTree,
	"mkdir":     (*call).mkdir,
	"symlink":   (*call).symlink,
	"chmod":     (*call).chmod,
	"chown":     (*call).chown,
	"remove":    (*call).remove,
	"run":       (*call).run,
}

type runner func(context.Context, host.Cmd) (host.Result, error)

func trimmed(b []byte) string { return string(bytes.TrimRight(b, "\r\n")) }

// run is host.run { command... }, which changes the machine.
func (c *call) run() int { return c.runs(c.host.Run) }

// attributes are the options that say who may do what with a file.
var attributes = []string{"owner", "group", "mode"}

// attr returns what stands at a path and the attributes that it is to have: those
// in argument n, else those that it has, else what belongs to this process.
func (c *call) attr(path string, n int, mode uint32) (host.Info, host.Attr) {
	opts := c.options(n, attributes...)
	info, err := c.view.Lstat(path)
	c.must(err)
	attr := host.Attr{UID: uint32(os.Geteuid()), GID: uint32(os.Getegid()), Mode: mode}
	if info.Kind == host.Regular || info.Kind == host.Directory {
		attr = host.Attr{UID: info.UID, GID: info.GID, Mode: info.Mode}
	}
	if owner := opts.RawGetString("owner"); owner != lua.LNil {
		attr.UID, err = c.view.UserID(lua.LVAsString(owner))
		c.must(err)
	}
	if group := opts.RawGetString("group"); group != lua.LNil {
		attr.GID, err = c.view.GroupID(lua.LVAsString(group))
		c.must(err)
	}
	if bits := opts.RawGetString("mode"); bits != lua.LNil {
		attr.Mode = c.mode(bits)
	}
	return info, attr
}

func (c *call) mode(v lua.LValue) uint32 {
	var m Mode
	s, ok := v.(lua.LString)
	if !ok {
		c.fail("mode: want a string such as \"0644\", got %s", describe(v))
	}
	c.valid(m.UnmarshalText([]byte(s)))
	return uint32(m)
}

// write is host.write(path, content, options): it makes or replaces a file, in
// one step. Attributes that are not given stay what they are.
func (c *call) write() int {
	path, content := c.path(1), c.str(2, "the content")
	_, attr := c.attr(path, 3, 0o644)
	c.must(c.host.WriteFile(path, strings.NewReader(content), attr))
	return 0
}

// copy is host.copy(source, path, options): it is write with the content of a
// file of the script's.
func (c *call) copy() int {
	source, path := c.path(1), c.path(2)
	_, attr := c.attr(path, 3, 0o644)
	f, err := c.view.Sources().Open(c.in.Context(), source)
	c.must(err)
	defer f.Close()
	c.must(c.host.WriteFile(path, f, attr))
	return 0
}

// mkdir is host.mkdir(path, options): it makes a directory and those above it
// that are missing. One that is there gets the attributes that are given.
func (c *call) mkdir() int {
	path := c.path(1)
	info, attr := c.attr(path, 2, 0o755)
	switch info.Kind {
	case host.Missing:
		c.must(c.host.MakeDirectory(path, attr))
	case host.Directory:
		c.must(c.host.SetAttr(path, attr))
	default:
		// A link to a directory will do, as for mkdir -p, if nothing is wanted of the directory.
		isDir, err := c.view.IsDirectory(path)
		c.must(err)
		if isDir = isDir && c.L.Get(2) == lua.LNil; !isDir {
			c.fail("want a directory at %s, found %s", path, info.Kind)
		}
	}
	return 0
}

// symlink is host.symlink(target, path): it makes a link, or has one point
// elsewhere.
func (c *call) symlink() int {
	target, path := c.str(1, "what the link points to"), c.path(2)
	info, err := c.view.Lstat(path)
	c.must(err)
	if info.Kind != host.Missing && info.Kind != host.Symlink {
		c.fail("want a symbolic link at %s, found %s, which is not replaced", path, info.Kind)
	}
	c.must(c.host.Symlink(target, path))
	return 0
}

// chmod is host.chmod(path, mode). The mode is octal, or such as u=rwX,go=rX.
func (c *call) chmod() int {
	path := c.path(1)
	info, err := c.view.Lstat(path)
	c.must(err)
	if v := c.L.Get(2); v.Type() != lua.LTString {
		c.fail("mode: want a string such as \"0644\", got %s", describe(v))
	}
	mode, err := ModeChange(c.str(2, "a mode")).parse()
	c.must(err)
	c.must(c.host.SetAttr(path, host.Attr{UID: info.UID, GID: info.GID, Mode: mode(info.Mode, info.Kind == host.Directory)}))
	return 0
}

// chown is host.chown(path, owner, group); either may be nil. Of a link it is
// the link that is given away. A file that is given away loses setuid and setgid, as with
// chown(2).
func (c *call) chown() int {
	path := c.path(1)
	info, err := c.view.Lstat(path)
	c.must(err)
	uid, gid := info.UID, info.GID
	if v := c.L.Get(2); v != lua.LNil {
		uid, err = c.view.UserID(lua.LVAsString(v))
		c.must(err)
	}
	if v := c.L.Get(3); v != lua.LNil {
		gid, err = c.view.GroupID(lua.LVAsString(v))
		c.must(err)
	}
	if info.Kind == host.Symlink {
		c.must(c.host.ChownLink(path, uid, gid))
		return 0
	}
	mode := info.Mode
	if info.Kind == host.Regular && (uid != info.UID || gid != info.GID) {
		mode &= 0o777
	}
	c.must(c.host.SetAttr(path, host.Attr{UID: uid, GID: gid, Mode: mode}))
	return 0
}

// remove is host.remove(path, options): it removes a file, a link or an empty
// directory, with options.recursive a directory and all that is in it. What is
// not there is no mistake.
func (c *call) remove() int {
	path := c.path(1)
	opts := c.options(2, "recursive")
	info, err := c.view.Lstat(path)
	c.must(err)
	switch {
	case info.Kind == host.Missing:
	case info.Kind == host.Directory && opts.RawGetString("recursive") == lua.LTrue:
		c.must(c.host.RemoveTree(path))
	default:
		c.must(c.host.Remove(path))
	}
	return 0
}
