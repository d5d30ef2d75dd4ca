package luatype

import (
	"bytes"
	"context"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/safepath"
)

// acts are the functions of host that change the machine, by their names.
var acts = map[string]func(a *action) int{
	"write":     (*action).write,
	"copy":      (*action).copy,
	"copy_tree": (*action).copyTree,
	"mkdir":     (*action).mkdir,
	"symlink":   (*action).symlink,
	"chmod":     (*action).chmod,
	"chown":     (*action).chown,
	"remove":    (*action).remove,
	"run":       (*action).run,
}

// An action is a call of a function that changes the machine.
type action struct {
	*call
	host *host.Host
}

// actCalls are acts, as calls.
func actCalls() map[string]func(c *call) int {
	calls := make(map[string]func(c *call) int, len(acts))
	for name, act := range acts {
		calls[name] = func(c *call) int { return act(&action{c, c.access.host}) }
	}
	return calls
}

type runner func(context.Context, host.Cmd) (host.Result, error)

func trimmed(b []byte) string { return string(bytes.TrimRight(b, "\r\n")) }

// run is host.run { command... }, which changes the machine.
func (a *action) run() int { return a.runs(a.host.Run) }

// attributes are the options about the permissions of a file.
var attributes = []string{"owner", "group", "mode"}

// attr returns the info of a path and its future attributes: those of argument n, else its present
// ones, else those of a new entry of that kind.
func (a *action) attr(path string, n int, kind safepath.FileKind) (safepath.Info, safepath.Attr) {
	opts := a.options(n, attributes...)
	info, err := a.view.Lstat(path)
	a.must(err)
	attr := host.NewAttr(a.view, path, kind)
	if info.Kind == safepath.Regular || info.Kind == safepath.Directory {
		attr = safepath.Attr{UID: info.UID, GID: info.GID, Mode: info.Mode}
	}
	if owner := opts.RawGetString("owner"); owner != lua.LNil {
		attr.UID, err = a.view.UserID(lua.LVAsString(owner))
		a.must(err)
	}
	if group := opts.RawGetString("group"); group != lua.LNil {
		attr.GID, err = a.view.GroupID(lua.LVAsString(group))
		a.must(err)
	}
	if bits := opts.RawGetString("mode"); bits != lua.LNil {
		attr.Mode = a.mode(bits)
	}
	return info, attr
}

func (a *action) mode(v lua.LValue) uint32 {
	var m Mode
	s, ok := v.(lua.LString)
	if !ok {
		a.fail("mode: %w", diag.Expected(`a string such as "0644"`).Got("%s", describe(v)))
	}
	a.valid(m.UnmarshalText([]byte(s)))
	return uint32(m)
}

// write is host.write(path, content, options): it makes or replaces a file, in one step. Attributes
// that are not given stay unchanged.
func (a *action) write() int {
	path, content := a.path(1), a.str(2, "the content")
	_, attr := a.attr(path, 3, safepath.Regular)
	a.must(a.host.WriteFile(path, strings.NewReader(content), attr))
	return 0
}

// copy is host.copy(source, path, options): it writes the content of a file on the script's
// machine, like write.
func (a *action) copy() int {
	source, path := a.path(1), a.path(2)
	_, attr := a.attr(path, 3, safepath.Regular)
	f, err := a.view.Sources().Open(a.in.Context(), source)
	a.must(err)
	defer f.Close()
	a.must(a.host.WriteFile(path, f, attr))
	return 0
}

// mkdir is host.mkdir(path, options): it makes a directory with its missing parents. An existing
// directory gets the given attributes.
func (a *action) mkdir() int {
	path := a.path(1)
	info, attr := a.attr(path, 2, safepath.Directory)
	switch info.Kind {
	case safepath.Missing:
		a.must(a.host.MakeDirectory(path, attr))
	case safepath.Directory:
		a.must(a.host.SetAttr(path, attr))
	default:
		// A link to a directory will do, as for mkdir -p, if nothing is wanted of the directory.
		isDir, err := a.view.IsDirectory(path)
		a.must(err)
		if isDir = isDir && a.L.Get(2) == lua.LNil; !isDir {
			a.fail("%w", diag.Expected("a directory at %s", path).Found("%s", info.Kind))
		}
	}
	return 0
}

// symlink is host.symlink(target, path): it makes a link, or changes the target of a link.
func (a *action) symlink() int {
	target, path := a.str(1, "the target of the link"), a.path(2)
	info, err := a.view.Lstat(path)
	a.must(err)
	if info.Kind != safepath.Missing && info.Kind != safepath.Symlink {
		a.fail("%w", diag.Expected("a symbolic link at %s", path).Found("%s, which is not replaced", info.Kind))
	}
	a.must(a.host.Symlink(target, path))
	return 0
}

// chmod is host.chmod(path, mode). The mode is octal, or symbolic such as u=rwX,go=rX.
func (a *action) chmod() int {
	path := a.path(1)
	info, err := a.view.Lstat(path)
	a.must(err)
	if v := a.L.Get(2); v.Type() != lua.LTString {
		a.fail("mode: %w", diag.Expected(`a string such as "0644"`).Got("%s", describe(v)))
	}
	mode, err := ModeChange(a.str(2, "a mode")).parse()
	a.must(err)
	a.must(a.host.SetAttr(path, safepath.Attr{UID: info.UID, GID: info.GID, Mode: mode(info.Mode, info.Kind == safepath.Directory)}))
	return 0
}

// chown is host.chown(path, owner, group); either may be nil. It changes a link itself, not the
// target. A file that changes hands loses setuid and setgid, as with chown(2).
func (a *action) chown() int {
	path := a.path(1)
	info, err := a.view.Lstat(path)
	a.must(err)
	uid, gid := info.UID, info.GID
	if v := a.L.Get(2); v != lua.LNil {
		uid, err = a.view.UserID(lua.LVAsString(v))
		a.must(err)
	}
	if v := a.L.Get(3); v != lua.LNil {
		gid, err = a.view.GroupID(lua.LVAsString(v))
		a.must(err)
	}
	if info.Kind == safepath.Symlink {
		a.must(a.host.ChownLink(path, uid, gid))
		return 0
	}
	mode := info.Mode
	if info.Kind == safepath.Regular && (uid != info.UID || gid != info.GID) {
		mode &= 0o777
	}
	a.must(a.host.SetAttr(path, safepath.Attr{UID: uid, GID: gid, Mode: mode}))
	return 0
}

// remove is host.remove(path, options): it removes a file, a link or an empty directory, with
// options.recursive a directory and its content. A missing path is no mistake.
func (a *action) remove() int {
	path := a.path(1)
	opts := a.options(2, "recursive")
	info, err := a.view.Lstat(path)
	a.must(err)
	switch {
	case info.Kind == safepath.Missing:
	case info.Kind == safepath.Directory && opts.RawGetString("recursive") == lua.LTrue:
		a.must(a.host.RemoveTree(path))
	default:
		a.must(a.host.Remove(path))
	}
	return 0
}
