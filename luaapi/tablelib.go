package luaapi

import (
	"sort"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
)

// A tableLib holds the functions of table.
type tableLib struct{ ev *evaluator }

// functions lists the functions of table. They read the contents of read-only tables and do not
// write them.
func (lib *tableLib) functions() []builtin {
	return []builtin{
		{"concat", lib.concat},
		{"foreach", lib.foreach},
		{"foreachi", lib.foreachi},
		{"getn", func(L *lua.LState) int {
			L.Push(lua.LNumber(lib.ev.limits.length(L, lib.ev.Tables.Contents(L.CheckTable(1)))))
			return 1
		}},
		{"insert", lib.insert},
		{"maxn", func(L *lua.LState) int {
			largest := lua.LNumber(0)
			lib.ev.Tables.Contents(L.CheckTable(1)).ForEach(func(key, _ lua.LValue) {
				if n, ok := key.(lua.LNumber); ok {
					largest = max(largest, n)
				}
			})
			L.Push(largest)
			return 1
		}},
		{"pack", func(L *lua.LState) int {
			n := L.GetTop()
			t := L.CreateTable(n, 1)
			for i := 1; i <= n; i++ {
				t.RawSetInt(i, L.Get(i))
			}
			t.RawSetString("n", lua.LNumber(n))
			L.Push(t)
			return 1
		}},
		{"remove", lib.remove},
		{"sort", lib.sort},
		{"unpack", lib.unpack},
	}
}

// foreach calls a function with each key and value until it returns something.
func (lib *tableLib) foreach(L *lua.LState) int {
	t, fn := lib.ev.Tables.Listing(L, L.CheckTable(1)), L.CheckFunction(2)
	for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
		if returned(L, fn, k, v) {
			return 1
		}
	}
	return 0
}

// foreachi is foreach for the items of a list.
func (lib *tableLib) foreachi(L *lua.LState) int {
	t, fn := lib.ev.Tables.Contents(L.CheckTable(1)), L.CheckFunction(2)
	for i := 1; i <= lib.ev.limits.length(L, t); i++ {
		if returned(L, fn, lua.LNumber(i), t.RawGetInt(i)) {
			return 1
		}
	}
	return 0
}

// returned calls a function, and reports whether it returned something, which then is pushed.
func returned(L *lua.LState, fn *lua.LFunction, args ...lua.LValue) bool {
	L.Push(fn)
	for _, v := range args {
		L.Push(v)
	}
	L.Call(len(args), 1)
	if L.Get(-1) != lua.LNil {
		return true
	}
	L.Pop(1)
	return false
}

func (lib *tableLib) concat(L *lua.LState) int {
	t, sep := lib.ev.Tables.Contents(L.CheckTable(1)), L.OptString(2, "")
	from := optInt(L, 3, 1)
	to := optInt(L, 4, lib.ev.limits.length(L, t))
	var out strings.Builder
	for i := from; i <= to; i++ {
		v := t.RawGet(lua.LNumber(i))
		if !lua.LVCanConvToString(v) {
			lib.ev.report.throw(L, "", "table.concat: %w", diag.Expected("a string or a number").Got("%s as item %d", kindOf(v), i))
		}
		out.WriteString(lib.ev.textOf(L, v))
		if i < to {
			out.WriteString(sep)
		}
		if out.Len() > maxString {
			lib.ev.limits.tooLong(L, "table.concat")
		}
	}
	lib.ev.limits.take(L, out.Len())
	L.Push(lua.LString(out.String()))
	return 1
}

func (lib *tableLib) insert(L *lua.LState) int {
	t := lib.ev.Tables.writable(L)
	length := lib.ev.limits.length(L, t)
	switch L.GetTop() {
	case 2:
		t.RawSetInt(length+1, L.Get(2))
	case 3:
		at := checkInt(L, 2)
		switch {
		case at < 1:
			L.ArgError(2, "the position "+diag.MustBe("at least 1").Error())
		case at > length:
			t.RawSetInt(at, L.Get(3))
		default:
			t.Insert(at, L.Get(3))
		}
	default:
		lib.ev.report.throw(L, "", "table.insert: %w", diag.Expected("a table, optionally a position, and a value"))
	}
	return 0
}

func (lib *tableLib) remove(L *lua.LState) int {
	t := lib.ev.Tables.writable(L)
	n := lib.ev.limits.length(L, t)
	at := optInt(L, 2, n)
	if at < 1 || at > n {
		return 0
	}
	if at == n && n < t.Len() {
		L.Push(t.RawGetInt(n))
		t.RawSetInt(n, lua.LNil)
		return 1
	}
	L.Push(t.Remove(at))
	return 1
}

// sort sorts the items up to the length of the list. gopher-lua's own function also sorts what it
// keeps beyond, such as a last item that was set to nil.
func (lib *tableLib) sort(L *lua.LState) int {
	t := lib.ev.Tables.writable(L)
	items := make([]lua.LValue, lib.ev.limits.length(L, t))
	for i := range items {
		items[i] = t.RawGetInt(i + 1)
	}
	less := L.LessThan
	if order := L.Get(2); order != lua.LNil {
		fn := L.CheckFunction(2)
		less = func(a, b lua.LValue) bool {
			L.Push(fn)
			L.Push(a)
			L.Push(b)
			L.Call(2, 1)
			defer L.Pop(1)
			return lua.LVAsBool(L.Get(-1))
		}
	}
	sort.Slice(items, func(i, j int) bool { return less(items[i], items[j]) })
	for i, v := range items {
		t.RawSetInt(i+1, v)
	}
	return 0
}

func (lib *tableLib) unpack(L *lua.LState) int {
	t := lib.ev.Tables.Contents(L.CheckTable(1))
	from := optInt(L, 2, 1)
	to := optInt(L, 3, lib.ev.limits.length(L, t))
	if from > to {
		return 0
	}
	if to-from < 0 || to-from >= registrySize {
		L.RaiseError("registry overflow")
	}
	reserve(L, to-from+1)
	for i := from; i <= to; i++ {
		L.Push(t.RawGet(lua.LNumber(i)))
	}
	return to - from + 1
}
