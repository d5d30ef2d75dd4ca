package luatype

import (
	"context"
	"errors"
	"os"
	"time"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/fetch"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/schema"
)

// looks are the functions of host that only look, by their names.
var looks = map[string]func(c *call) int{
	"read": (*call).read,
	"stat": (*call).stat,
	"list": (*call).list,
	"glob": (*call).glob,

	"is_directory":    (*call).isDirectory,
	"missing_parents": (*call).missingParents,

	"tree":       (*call).tree,
	"compare":    (*call).compare,
	"undeclared": (*call).undeclared,
	"kept_data":  (*call).keptData,
	"time_left":  (*call).timeLeft,
	"which":      (*call).which,
	"real":       (*call).real,
	"query":      (*call).query,
	"connects":   (*call).connects,

	"pending_user":  func(c *call) int { return c.pendingAccount(overlay.UserLook) },
	"pending_group": func(c *call) int { return c.pendingAccount(overlay.GroupLook) },
}

// read is host.read(path): the content of a file, nil if nothing stands there. A link to /dev/null, which masks a
// file of systemd and its like, is an empty file.
func (c *call) read() int {
	path := c.path(1)
	info, err := c.view.Lstat(path)
	c.must(err)
	if info.Kind == safepath.Missing {
		return c.give(lua.LNil)
	}
	if info.Kind == safepath.Symlink {
		target, err := c.view.Readlink(path)
		c.must(err)
		if target == os.DevNull {
			return c.give(lua.LString(""))
		}
	}
	b, err := c.view.ReadUpTo(path, fileLimit)
	if errors.Is(err, overlay.ErrNotKnown) {
		c.must(err)
	}
	if err != nil {
		if there, existsErr := c.view.Exists(path); existsErr == nil && !there {
			return c.give(lua.LNil) // a link to nothing
		}
		c.fail("%s: %w", path, err)
	}
	return c.give(lua.LString(b))
}

// kinds are the words for the kinds of files.
var kinds = map[safepath.FileKind]string{safepath.Regular: "file", safepath.Directory: "directory", safepath.Symlink: "link", safepath.Special: "special"}

// stat is host.stat(path): the attributes of a path, nil if it does not exist. A link is not
// followed.
func (c *call) stat() int {
	path := c.path(1)
	info, err := c.view.Lstat(path)
	c.must(err)
	if info.Kind == safepath.Missing {
		return c.give(lua.LNil)
	}
	t := c.infoTable(info)
	if info.Kind == safepath.Symlink {
		target, err := c.view.Readlink(path)
		c.must(err)
		t.RawSetString("target", lua.LString(target))
	}
	return c.give(t)
}

func (c *call) infoTable(info safepath.Info) *lua.LTable { return c.entryTable(info, false) }

// entryTable returns an info as a table: with brief, which takes half of the memory, only kind and
// mode.
func (c *call) entryTable(info safepath.Info, brief bool) *lua.LTable {
	n := 10 // with path, and sum or target; a table without a size gets room for 32
	if brief {
		n = 4
	}
	t := c.L.CreateTable(0, n)
	t.RawSetString("kind", lua.LString(kinds[info.Kind]))
	t.RawSetString("mode", lua.LString(Mode(info.Mode).String()))
	if brief {
		return t
	}
	t.RawSetString("uid", lua.LNumber(info.UID))
	t.RawSetString("gid", lua.LNumber(info.GID))
	t.RawSetString("owner", lua.LString(c.view.UserName(info.UID)))
	t.RawSetString("group", lua.LString(c.view.GroupName(info.GID)))
	t.RawSetString("size", lua.LNumber(info.Size))
	t.RawSetString("mtime", lua.LNumber(float64(info.MTime.Unix())+float64(info.MTime.Nanosecond())/1e9))
	return t
}

// isDirectory is host.is_directory(path): whether a directory stands there, or a
// link to one.
func (c *call) isDirectory() int {
	ok, err := c.view.IsDirectory(c.path(1))
	c.must(err)
	return c.give(lua.LBool(ok))
}

// missingParents is host.missing_parents(path): the missing directories above it, the uppermost
// first. If one of the parents is no directory, they are nil, and a second result describes it.
func (c *call) missingParents() int {
	missing, err := host.MissingParents(c.view, c.path(1))
	if parent, ok := errors.AsType[*host.ParentError](err); ok {
		return c.give(lua.LNil, lua.LString(parent.Error()))
	}
	c.must(err)
	return c.giveStrings(missing)
}

// list is host.list(directory): the sorted names in a directory.
func (c *call) list() int {
	names, err := c.view.Names(c.in.Context(), c.path(1), safepath.MaxNames)
	c.must(err)
	return c.giveStrings(names)
}

// glob is host.glob(pattern): the paths that match, sorted.
func (c *call) glob() int {
	found, err := c.view.Glob(c.in.Context(), c.path(1), safepath.MaxNames)
	c.must(err)
	return c.giveStrings(found)
}

// tree is host.tree(directory, options): all entries below a directory, in order, with the SHA-256
// of files if options.sums is set. With options.source the directory is on the script's machine.
func (c *call) tree() int {
	dir := c.path(1)
	opts := c.options(2, "sums", "source", "brief")
	source := opts.RawGetString("source") == lua.LTrue
	look, sum := c.view.Tree, c.view.Sum
	if source {
		look, sum = c.view.Sources().Tree, c.view.Sources().Sum
	}
	entries, err := look(c.in.Context(), dir, safepath.MaxNames)
	c.must(err)
	list := c.L.CreateTable(len(entries), 0)
	for _, e := range entries {
		c.must(c.in.Context().Err())
		t := c.entryTable(e.Info, opts.RawGetString("brief") == lua.LTrue)
		t.RawSetString("path", lua.LString(e.Rel))
		full := joined(dir, e.Rel)
		switch {
		case e.Kind == safepath.Regular && opts.RawGetString("sums") == lua.LTrue:
			s, err := sum(c.in.Context(), full)
			c.must(err)
			t.RawSetString("sum", lua.LString(s))
		case e.Kind == safepath.Symlink && !source:
			target, err := c.view.Readlink(full)
			c.must(err)
			t.RawSetString("target", lua.LString(target))
		}
		list.Append(t)
	}
	return c.give(list)
}

// timeLeft is host.time_left(): the seconds until the timeout of the resource, nil without one.
func (c *call) timeLeft() int {
	deadline, ok := c.in.Context().Deadline()
	if !ok {
		return c.give(lua.LNil)
	}
	return c.give(lua.LNumber(time.Until(deadline).Seconds()))
}

// which is host.which(name): the path of a command, nil if there is none.
func (c *call) which() int {
	file, err := c.view.LookPath(c.str(1, "the name of a command"), "", "")
	if err != nil {
		return c.give(lua.LNil)
	}
	return c.give(lua.LString(c.view.CommandPath(file)))
}

// real is host.real(path): the path as a command with below_root sees it, which sees the whole file system. Links
// in the path's directory are followed.
func (c *call) real() int {
	path, err := c.view.Real(c.path(1))
	c.must(err)
	return c.give(lua.LString(path))
}

// commandOptions are the options behind the words of a command.
var commandOptions = []string{"cwd", "env", "stdin", "timeout", "check", "user", "below_root", "changes"}

// command reads argument 1: the words of a command and its options.
func (c *call) command() (cmd host.Cmd, check bool) {
	check = true
	t, ok := c.L.Get(1).(*lua.LTable)
	if !ok {
		words, err := resource.SplitWords(c.str(1, "a command"))
		c.must(err)
		cmd.Argv = words
	} else {
		c.known(t, commandOptions)
		for i := 1; i <= t.Len(); i++ {
			v := t.RawGetInt(i)
			if v.Type() != lua.LTString && v.Type() != lua.LTNumber {
				c.fail("%w", diag.Expected("a list of strings").Got("%s as word %d", describe(v), i))
			}
			cmd.Argv = append(cmd.Argv, lua.LVAsString(v))
		}
		cmd.Dir = lua.LVAsString(t.RawGetString("cwd"))
		cmd.BelowRoot = t.RawGetString("below_root") == lua.LTrue
		if in, ok := t.RawGetString("stdin").(lua.LString); ok {
			cmd.Stdin = []byte(in)
		}
		if limit, ok := t.RawGetString("timeout").(lua.LString); ok {
			var d host.Duration
			c.valid(d.UnmarshalText([]byte(limit)))
			cmd.Timeout = time.Duration(d)
		}
		if files, ok := t.RawGetString("changes").(*lua.LTable); ok {
			for i := range files.Len() {
				cmd.Changes = append(cmd.Changes, lua.LVAsString(files.RawGetInt(i+1)))
			}
		}
		cmd.Env = c.environment(t.RawGetString("env"))
		if user := lua.LVAsString(t.RawGetString("user")); user != "" {
			c.must(c.view.MayRun(cmd)) // before anybody is asked about the user
			login, err := c.view.Login(c.in.Context(), user, "")
			c.must(err)
			cmd.As = login
		}
		check = t.RawGetString("check") != lua.LFalse
	}
	if len(cmd.Argv) == 0 || cmd.Argv[0] == "" {
		c.fail("%w", diag.Expected("a command").Got("nothing"))
	}
	return cmd, check
}

func (c *call) environment(v lua.LValue) (list []string) {
	data, err := c.plain(v, 0)
	c.must(err)
	vars, ok := data.(map[string]any)
	if !ok && v != lua.LNil {
		c.fail("env: %w", diag.Expected("a table of names and strings").Got("%s", describe(v)))
	}
	t := schema.ValueOf(vars).Table()
	for _, e := range t.Entries {
		list = append(list, e.Key+"="+raw(e.Val.Go()))
	}
	return list
}

// query is host.query { command... }: its output without the line breaks at the end, its exit code,
// and its standard error.
func (c *call) query() int { return c.runs(c.view.Query) }

// runs runs a command. An exit code other than 0 is a mistake, unless the option
// check is false.
func (c *call) runs(run runner) int {
	cmd, check := c.command()
	var res host.Result
	var err error
	c.in.Outside(func() { res, err = run(c.in.Context(), cmd) })
	if err == nil && check {
		err = res.Err(cmd)
	}
	c.must(err)
	return c.give(lua.LString(trimmed(res.Stdout)), lua.LNumber(res.Code), lua.LString(trimmed(res.Stderr)))
}

// connects is host.connects(address, port, options): whether a TCP connection can be made, and if
// not, the reason. It waits for 5s at most, unless options.timeout says otherwise.
func (c *call) connects() int {
	address := c.str(1, "the name or address of a machine")
	port, ok := c.L.Get(2).(lua.LNumber)
	if !ok || port != lua.LNumber(uint16(port)) {
		c.fail("%w", diag.Expected("a port as argument 2").Got("%s", describe(c.L.Get(2))))
	}
	timeout := host.Duration(5 * time.Second)
	if limit, ok := c.options(3, "timeout").RawGetString("timeout").(lua.LString); ok {
		c.valid(timeout.UnmarshalText([]byte(limit)))
	}
	ctx, cancel := context.WithTimeout(c.in.Context(), time.Duration(timeout))
	defer cancel()
	var err error
	c.in.Outside(func() { err = fetch.Connect(ctx, address, uint16(port)) })
	if err != nil {
		return c.give(lua.LFalse, lua.LString(err.Error()))
	}
	return c.give(lua.LTrue)
}

// keptData is host.kept_data(directory, options): the reason why the directory must not be removed,
// because of data that no run has created or something that is mounted, or nil. A second result has
// the paths of that data below the directory. What is like in the directory options.like, and the
// paths in options.created, count as created.
func (c *call) keptData() int {
	dir := c.path(1)
	opts := c.options(2, "like", "created")
	created, err := c.plain(opts.RawGetString("created"), 0)
	c.must(err)
	var paths []string
	list, _ := created.([]any)
	for _, p := range list {
		paths = append(paths, raw(p))
	}
	reason, foreign, err := resource.KeptData(c.in.Context(), c.view, dir, lua.LVAsString(opts.RawGetString("like")), paths)
	c.must(err)
	names := c.L.CreateTable(len(foreign), 0)
	for _, rel := range foreign {
		names.Append(lua.LString(rel))
	}
	if reason == "" {
		return c.give(lua.LNil, names)
	}
	return c.give(lua.LString(reason), names)
}
