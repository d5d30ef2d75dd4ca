package luaapi

import (
	"slices"

	lua "github.com/yuin/gopher-lua"
)

// maxCoroutines is how many coroutines can wait for one another.
const maxCoroutines = 100

// coroutineFunctions lists the functions of coroutine that are not gopher-lua's.
func (lib *baseLib) coroutineFunctions(create, resume, yield lua.LGFunction) []builtin {
	// guarded resumes a coroutine. Each one that waits for another takes some of
	// the stack of this program, which must not overflow.
	guarded := func(L *lua.LState) (n int, thrown lua.LValue) {
		if lib.in.limits.coroutines == maxCoroutines {
			L.RaiseError("too many coroutines that wait for one another: more than %d", maxCoroutines)
		}
		lib.in.limits.coroutines++
		defer func() { lib.in.limits.coroutines-- }()
		if n = resume(L); n != 2 || L.Get(-2) != lua.LFalse {
			return n, nil
		}
		thrown = L.Get(-1)
		if lib.in.limits.isOver() {
			L.Error(thrown, 0)
		}
		return n, thrown
	}
	return []builtin{
		{"yield", func(L *lua.LState) int {
			if slices.Contains(lib.in.limits.protectedCalls, L) {
				L.RaiseError("yield inside of pcall")
			}
			return yield(L)
		}},
		{"resume", func(L *lua.LState) int {
			n, thrown := guarded(L)
			if thrown != nil {
				L.Pop(1)
				L.Push(lib.in.source.withoutNode(thrown))
			}
			return n
		}},
		{"wrap", func(L *lua.LState) int {
			create(L)
			th := L.Get(-1)
			L.Push(L.NewFunction(func(L *lua.LState) int {
				L.Insert(th, 1)
				n, thrown := guarded(L)
				if thrown != nil {
					L.Error(thrown, 0)
				}
				return n - 1
			}))
			return 1
		}},
	}
}
