package luaapi

import (
	"fmt"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// A traceback has this many lines at its beginning and its end, as in Lua; those between are left out.
const (
	firstTraced = 12
	lastTraced  = 10
)

// An activation is a function that runs, as Lua's debug library shows it.
type activation struct {
	fn   *lua.LFunction // nil for one that a tail call replaced
	at   frame
	line int // where it is: a node, a line, [hiddenLine], or less than 0 for a function of this program

	name, kind string // how it was called, "" if that is not known
}

// activations returns the running functions of L from a level on, at most the given number; 0 is the innermost. Calls that
// only the rewriter has made are not among them.
func (lib *baseLib) activations(L *lua.LState, level, most int) []activation {
	var raw []activation
	for l := level; len(raw) <= most+1; l++ {
		th, dbg, ok := lib.ev.limits.stackAt(L, l)
		if !ok {
			break
		}
		v, err := th.GetInfo("Slf", dbg, lua.LNil)
		if err != nil {
			break
		}
		a := activation{line: dbg.CurrentLine}
		a.fn, _ = v.(*lua.LFunction)
		a.at, _ = frameOf(th, dbg)
		// For a call that a tail call replaced, GetStack gives the outermost function of the thread.
		if next, _, more := lib.ev.limits.stackAt(L, l+1); dbg.What == "main" && more && next == th {
			a = activation{line: -1}
		}
		raw = append(raw, a)
	}
	var out []activation
	for i := 0; i < len(raw); i++ {
		a := raw[i]
		for i+1 < len(raw) && raw[i+1].fn != nil && !raw[i+1].fn.IsG && raw[i+1].line == hiddenLine {
			if i++; a.fn != nil && !a.fn.IsG {
				a.fn = raw[i].fn // a is a part of that function
			}
		}
		if i+1 < len(raw) {
			a.name, a.kind = lib.calledAs(raw[i+1].at)
			if a.name == "" && a.fn != nil && a.fn.IsG && level > 0 && raw[i+1].at.node != 0 {
				continue // an operator that is compiled to a call
			}
		}
		out = append(out, a)
	}
	return out
}

// calledAs returns the name and the kind of the function that a frame calls: local, global, method, field or upvalue.
func (lib *baseLib) calledAs(f frame) (name, kind string) {
	c := lib.ev.source.chunkOf(f.node)
	if c == nil || !c.isCall(f.node) || len(c.text) > maxNamed {
		return "", ""
	}
	call, ok := c.tree().Node(f.node).(*ast.FuncCallExpr)
	if !ok {
		return "", ""
	}
	switch fn := call.Func.(type) {
	case nil:
		return call.Method, "method"
	case *ast.IdentExpr:
		return fn.Value, c.tree().Kind(fn)
	case *ast.AttrGetExpr:
		if key, ok := fn.Key.(*ast.StringExpr); ok {
			return key.Value, "field"
		}
	}
	return "", ""
}

// isMain reports whether a function is the outermost of a text.
func isMain(fn *lua.LFunction) bool { return !fn.IsG && fn.Proto.LineDefined == 0 }

// withThread takes the thread that may be the first argument of a function of debug off the arguments. The level is that of
// the innermost function of a script.
func withThread(L *lua.LState) (of *lua.LState, level int) {
	if th, ok := L.Get(1).(*lua.LState); ok {
		L.Remove(1)
		if th != L {
			return th, 0
		}
	}
	return L, 1
}

// traceback is debug.traceback: a message and the calls that are running, in the words of Lua.
func (lib *baseLib) traceback(L *lua.LState) int {
	of, level := withThread(L)
	msg := L.Get(1)
	if msg != lua.LNil && !lua.LVCanConvToString(msg) {
		L.Push(msg)
		return 1
	}
	level = lib.ev.concat.scriptLevel(of, optInt(L, 2, level))
	var lines []string
	if msg != lua.LNil {
		lines = append(lines, lua.LVAsString(lib.ev.source.withoutNode(msg)))
	}
	lines = append(lines, "stack traceback:")
	list := lib.activations(of, level, maxReplaced)
	for i, a := range list {
		if i >= firstTraced && i < len(list)-lastTraced {
			if i == firstTraced {
				lines = append(lines, "\t...")
			}
			continue
		}
		lines = append(lines, "\t"+lib.traced(a))
	}
	L.Push(lua.LString(strings.Join(lines, "\n")))
	return 1
}

// traced returns a running function as a traceback shows it.
func (lib *baseLib) traced(a activation) string {
	if a.fn == nil {
		return "(tail call): ?"
	}
	where := "[C]:"
	if !a.fn.IsG {
		where = lib.ev.source.lineOf(a.at.node, a.at.file).String() + ":"
	}
	switch {
	case isMain(a.fn):
		return where + " in main chunk"
	case a.name != "":
		return fmt.Sprintf("%s in function '%s'", where, a.name)
	case a.fn.IsG:
		return where + " ?"
	}
	return fmt.Sprintf("%s in function <%s:%d>", where, a.fn.Proto.SourceName, a.fn.Proto.LineDefined)
}

// getInfo is debug.getinfo of a function, or of a level of the stack. Functions of this program have the place of those
// in C.
func (lib *baseLib) getInfo(L *lua.LState) int {
	of, _ := withThread(L)
	a := activation{line: -1}
	if fn, ok := L.Get(1).(*lua.LFunction); ok {
		a.fn = fn
	} else {
		level := checkInt(L, 1)
		if of == L {
			level = lib.ev.concat.scriptLevel(L, level)
		}
		list := lib.activations(of, level, 1)
		if level < 0 || len(list) == 0 {
			L.Push(lua.LNil)
			return 1
		}
		a = list[0]
	}
	L.Push(lib.infoTable(L, a))
	return 1
}

// infoTable returns the table of debug.getinfo.
func (lib *baseLib) infoTable(L *lua.LState, a activation) *lua.LTable {
	info := L.CreateTable(0, 10)
	what, source, short, line, defined, last, upvalues := "C", "=[C]", "[C]", -1, -1, -1, 0
	switch {
	case a.fn == nil:
		what, source, short = "tail", "=(tail call)", "(tail call)"
	case !a.fn.IsG:
		what, source, short = "Lua", lib.sourceOf(a.fn), a.fn.Proto.SourceName
		if isMain(a.fn) {
			what = "main"
		}
		defined, last, upvalues = a.fn.Proto.LineDefined, a.fn.Proto.LastLineDefined, int(a.fn.Proto.NumUpvalues)
		if a.at.file != "" {
			line = lib.ev.source.lineOf(a.at.node, a.at.file).Line
		}
	}
	info.RawSetString("what", lua.LString(what))
	info.RawSetString("source", lua.LString(source))
	info.RawSetString("short_src", lua.LString(short))
	info.RawSetString("currentline", lua.LNumber(line))
	info.RawSetString("linedefined", lua.LNumber(defined))
	info.RawSetString("lastlinedefined", lua.LNumber(last))
	info.RawSetString("nups", lua.LNumber(upvalues))
	info.RawSetString("namewhat", lua.LString(a.kind))
	if a.name != "" {
		info.RawSetString("name", lua.LString(a.name))
	}
	if c := lib.ev.source.chunkOf(caller(L).node); a.fn != nil && (c == nil || c.owner == nil) {
		info.RawSetString("func", a.fn) // a package gets no function that is not given to it
	}
	return info
}

// sourceOf returns where the text of a function is from: @ and the file, or what load was given.
func (lib *baseLib) sourceOf(fn *lua.LFunction) string {
	from := lib.ev.source.chunkOfFunction(fn)
	if from == nil {
		from = lib.ev.source.named(fn.Proto.SourceName)
	}
	switch {
	case from == nil || !from.loaded:
		return "@" + fn.Proto.SourceName
	case from.source != "":
		return from.source
	}
	return from.text
}
