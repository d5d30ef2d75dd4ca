package std

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/sha256sum"
)

func fsLibrary() *Library {
	return &Library{
		Name: "fs",
		Doc: "Reads files and directories. Absolute paths are on the managed machine, below --root; relative " +
			"paths start at the directory of the script or module. The files read are inputs of the run. A script " +
			"is evaluated before anything is changed, in a plan as in a run.",
		Funcs: []Func{{
			Signature: `exists(path: string): boolean`,
			Doc:       "Reports whether the path exists. A link counts if its target exists.",
			Example:   `fs.exists("/etc/motd")`, Result: `true`,
			Fn: func(c *call) int {
				v, name := pathArg(c, 1)
				ok, err := v.Exists(name)
				mustLook(c, err)
				c.Record(Input{Kind: "stat", Name: name, Value: found(ok)})
				return c.give(lua.LBool(ok))
			},
		}, {
			Signature: `is_file(path: string): boolean`,
			Doc:       "Reports whether the path is a file, or a link to one.",
			Example:   `fs.is_file("/etc")`, Result: `false`,
			Fn: func(c *call) int {
				v, name := pathArg(c, 1)
				info, err := v.Stat(name)
				mustLook(c, err)
				c.Record(Input{Kind: "stat", Name: name, Value: kindName(info.Kind)})
				return c.give(lua.LBool(info.Kind == safepath.Regular))
			},
		}, {
			Signature: `is_directory(path: string): boolean`,
			Doc:       "Reports whether the path is a directory, or a link to one.",
			Example:   `fs.is_directory("/etc")`, Result: `true`,
			Fn: func(c *call) int {
				v, name := pathArg(c, 1)
				ok, err := v.IsDirectory(name)
				mustLook(c, err)
				c.Record(Input{Kind: "stat", Name: name, Value: found(ok)})
				return c.give(lua.LBool(ok))
			},
		}, {
			Signature: `read(path: string, default?: string): string`,
			Doc:       "Returns the content of a file; links are followed. If the file does not exist, it returns the default; without a default that is an error. So is a path that is not a file, a file without read permission, and a file of more than 64 MiB.",
			Example:   `fs.read("/etc/motd")`, Result: `"Welcome\n"`,
			Fn: fsRead,
		}, {
			Signature: `stat(path: string): { kind: "file"|"directory"|"link"|"special", mode: string, size: integer, owner: string, group: string, uid: integer, gid: integer, mtime: number, target?: string }|nil`,
			Doc:       "Describes the file, directory or link at the path, or returns nil if it does not exist. A link is not followed: target is its target. The mode is octal, the mtime is in seconds as time.now.",
			Example:   `fs.stat("/etc/motd").mode`, Result: `"0644"`,
			Fn: fsStat,
		}, {
			Signature: `list(path: string): string[]`,
			Doc:       "Returns the names in a directory, sorted. A path that is not a directory is an error.",
			Example:   `fs.list("/etc/conf.d")`, Result: `{ "a.conf", "b.conf" }`,
			Fn: func(c *call) int {
				v, name := pathArg(c, 1)
				names, err := v.Names(c.in.Context(), name, safepath.MaxNames)
				mustLook(c, notFound(err, name))
				c.Record(Input{Kind: "list", Name: name, Value: sha256sum.Bytes([]byte(strings.Join(names, "\n")))})
				return c.giveStrings(names)
			},
		}, {
			Signature: `glob(pattern: string): string[]`,
			Doc:       "Returns the paths that match a pattern of *, ? and [a-z], sorted. The paths of a relative pattern are relative too.",
			Example:   `fs.glob("/etc/conf.d/*.conf")`, Result: `{ "/etc/conf.d/a.conf", "/etc/conf.d/b.conf" }`,
			Fn: fsGlob,
		}},
	}
}

// pathArg returns the path in argument n, and the machine of the path.
func pathArg(c *call, n int) (*host.View, string) {
	name := c.str(n)
	switch {
	case name == "":
		c.fail("%w", diag.Expected("a path as argument %d", n).Got("an empty string"))
	case strings.IndexByte(name, 0) >= 0:
		c.fail("%w", diag.Expected("a path as argument %d", n).Got("a path with a NUL byte"))
	case path.IsAbs(name):
		return c.View, path.Clean(name)
	}
	return c.ScriptView, path.Join(c.in.Caller(c.L).Dir(), name)
}

// mustLook throws the error of a look at a path, unless it is nil.
func mustLook(c *call, err error) {
	if err == nil {
		return
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		c.fail("%s: %w", p.Path, p.Err)
	}
	c.must(err)
}

// notFound replaces the path in an error, which may be below the root, by the
// path that the script gave.
func notFound(err error, name string) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: p.Op, Path: name, Err: p.Err}
	}
	return err
}

// found returns the result of a look for an [Input].
func found(ok bool) string {
	if ok {
		return "found"
	}
	return "missing"
}

func fsRead(c *call) int {
	name, text, ok := readArgIfThere(c, 1, "file")
	if ok {
		return c.giveStr(text)
	}
	if !c.given(2) {
		c.fail("no file %s", name)
	}
	c.Record(Input{Kind: "file", Name: name, Value: "missing"})
	return c.giveStr(c.str(2))
}

// readArg returns the path and the content of the file in argument n, and records the file as an
// input of that kind.
func readArg(c *call, n int, kind string) (name, text string) {
	name, text, ok := readArgIfThere(c, n, kind)
	if !ok {
		c.fail("no file %s", name)
	}
	return name, text
}

// readArgIfThere is readArg for a file that may be missing.
func readArgIfThere(c *call, n int, kind string) (name, text string, ok bool) {
	v, name := pathArg(c, n)
	raw, err := v.ReadUpTo(name, maxString)
	if missing(err) {
		return name, "", false
	}
	if err != nil {
		c.fail("%s: %w", name, cause(err))
	}
	text = string(raw)
	c.Record(Input{Kind: kind, Name: name, Value: sha256sum.Bytes(raw), Text: text})
	return name, text, true
}

func missing(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// cause returns an error without the path, which may be one below the root.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

func kindName(k safepath.FileKind) string {
	return [...]string{"missing", "file", "directory", "link", "special"}[k]
}

func fsStat(c *call) int {
	v, name := pathArg(c, 1)
	info, err := v.Lstat(name)
	mustLook(c, err)
	c.Record(Input{Kind: "stat", Name: name, Value: statText(info)})
	if info.Kind == safepath.Missing {
		return c.give(lua.LNil)
	}
	t := c.L.CreateTable(0, 9)
	t.RawSetString("kind", lua.LString(kindName(info.Kind)))
	t.RawSetString("mode", lua.LString(fmt.Sprintf("%04o", info.Mode)))
	t.RawSetString("size", lua.LNumber(info.Size))
	t.RawSetString("owner", lua.LString(v.UserName(info.UID)))
	t.RawSetString("group", lua.LString(v.GroupName(info.GID)))
	t.RawSetString("uid", lua.LNumber(info.UID))
	t.RawSetString("gid", lua.LNumber(info.GID))
	t.RawSetString("mtime", seconds(info.MTime))
	if info.Kind == safepath.Symlink {
		target, err := v.Readlink(name)
		mustLook(c, notFound(err, name))
		t.RawSetString("target", lua.LString(target))
	}
	return c.give(t)
}

// statText returns the result of a look at a path in one line.
func statText(i safepath.Info) string {
	if i.Kind == safepath.Missing {
		return "missing"
	}
	return fmt.Sprintf("%s %04o %d:%d %d %d", kindName(i.Kind), i.Mode, i.UID, i.GID, i.Size, i.MTime.UnixNano())
}

func fsGlob(c *call) int {
	pattern := c.str(1)
	if _, err := path.Match(pattern, ""); err != nil {
		c.fail("%w", diag.Expected(`a pattern such as "*.conf"`).Got("%q", pattern))
	}
	v, full := pathArg(c, 1)
	paths, err := v.Glob(c.in.Context(), full, safepath.MaxNames)
	mustLook(c, err)
	c.Record(Input{Kind: "glob", Name: full, Value: sha256sum.Bytes([]byte(strings.Join(paths, "\n")))})
	if !path.IsAbs(pattern) {
		dir := c.in.Caller(c.L).Dir()
		for i, p := range paths {
			paths[i] = strings.TrimPrefix(strings.TrimPrefix(p, dir), "/")
		}
	}
	return c.giveStrings(paths)
}
