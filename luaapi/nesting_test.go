package luaapi_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/luaapi/syntax"
)

// Texts whose compilation would take minutes or too much memory are refused with the line of the excess.
func TestNesting(t *testing.T) {
	if testing.Short() {
		t.Skip("runs into every limit: make test-all")
	}
	const n = 16000
	times := strings.Repeat
	for name, c := range map[string]struct{ text, want string }{
		"if":        {times("if true then ", n) + times("end ", n), "more than 200 nested blocks, functions, tables and calls"},
		"do":        {times("do ", n) + times("end ", n), "more than 200 nested blocks"},
		"repeat":    {times("repeat ", n) + times("until true ", n), "more than 200 nested blocks"},
		"for":       {times("for i = 1, 1 do ", n) + times("end ", n), "more than 200 nested blocks"},
		"while":     {times("while true do ", n) + times("end ", n), "more than 200 nested blocks"},
		"function":  {"local f = " + times("function() return ", n) + "1 " + times("end ", n), "more than 200 nested blocks"},
		"table":     {"local t = " + times("{", n) + times("}", n), "more than 200 nested blocks"},
		"call":      {"local x = " + times("f(", n) + times(")", n), "more than 200 nested blocks"},
		"index":     {"local x = " + times("t[", n) + "1" + times("]", n), "more than 200 nested blocks"},
		"elseif":    {"if a then " + times("elseif a == 3 then ", n) + "end", "more than 2000 operators or elseif in a row"},
		"sum":       {"local a = 1 local x = a" + times(" + a", n), "more than 2000 operators"},
		"power":     {"local a = 1 local x = a" + times(" ^ a", n), "more than 2000 operators"},
		"and":       {"local a = 1 local x = a" + times(" and a", n), "more than 2000 operators"},
		"strings":   {"local x = 'a'" + times("..'a'", n), "more than 2000 operators"},
		"not":       {"local x = " + times("not ", n) + "1", "more than 2000 operators"},
		"fields":    {"local t = {} local x = t" + times(".a", n), "more than 2000 operators"},
		"goto":      {times("goto a ", n) + "::a::", "more than 2000 goto and labels"},
		"brackets":  {"local x = " + times("(", 110_000), "expected fewer than 100000 nested brackets"},
		"unclosed":  {times("if true then ", n), "expected end to close the if"},
		"typed":     {"return " + times("{", n) + times("}", n), "more than 200 nested blocks"},
		"many":      {"local x = " + times("1, ", 100) + "1", ""},
		"long text": {"local x = [[" + times("if true then {(\n", n) + "]]", ""},
		"enough":    {times("if true then ", 199) + times("end ", 199) + "local x = 1" + times(" + 1", 1999), ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, nil, nil)
			begin := time.Now()
			err := s.in.Run(context.Background(), "site.lua", "\n"+c.text)
			require.Less(t, time.Since(begin), 30*time.Second)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "internal")
			_, err = syntax.Parse("site.lua", c.text)
			require.ErrorContains(t, err, c.want)
		})
	}
}

// A string that is repeatedly doubled is refused before it is allocated.
func TestConcatBounded(t *testing.T) {
	for name, script := range map[string]string{
		"double":  "local s = 'x'\nwhile true do s = s .. s end",
		"many":    "local s = 'x'\nwhile true do s = s .. s .. 'y' .. s .. s .. s end",
		"number":  "local s = 1\nwhile true do s = s .. s end",
		"field":   "local t = { s = 'x' }\nwhile true do t.s = t.s .. t.s end",
		"call":    "local function f(s) return s end local s = 'x'\nwhile true do s = f(s) .. f(s) end",
		"nested":  "local s = 'x'\nwhile true do s = ('a' .. s) .. ('b' .. s) end",
		"literal": "local s = 'x'\nwhile true do s = s .. '" + strings.Repeat("y", 8<<10) + "' .. s end",
		"meta":    "local s = 'x' local m = setmetatable({}, { __concat = function(a, b) return a end })\nwhile true do s = s .. s .. m end",
		"pcall":   "local s = 'x'\nwhile true do local ok, err = pcall(function() s = s .. s end) if not ok then error(err, 0) end end",
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, nil, nil)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := s.in.Run(context.Background(), "site.lua", script)
			runtime.ReadMemStats(&after)
			require.ErrorContains(t, err, "..: the result must be at most 64 MiB")
			require.ErrorContains(t, err, "site.lua:2")
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<30))
		})
	}
}

// One call with hostile arguments ends before it allocates more than the limit, without work that grows with the
// square of their size.
func TestCallsAreBounded(t *testing.T) {
	for script, want := range map[string]string{
		"local x = ('a'):rep(2 ^ 20):gsub('.*', ('%0'):rep(2 ^ 10))": "string.gsub: the result must be at most 64 MiB",
		"local x = ('a'):rep(2 ^ 26):byte(1, -1)":                    "too many values in one call",
		"print(unpack({ ('x'):rep(2 ^ 26), 1 }))":                    "print: the result must be at most 64 MiB",
		"ccm.warn(unpack({ ('x'):rep(2 ^ 26), 1 }))":                 "ccm.warn: the result must be at most 64 MiB",
	} {
		s := newSite(t, nil, nil)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := s.in.Run(context.Background(), "site.lua", script)
		runtime.ReadMemStats(&after)
		require.ErrorContains(t, err, want, script)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(400<<20), script)
	}
	for _, script := range []string{
		"local t = {} for i = 1, 2 ^ 17 do t[i] = i end assert(select('#', unpack(t)) == 2 ^ 17) print(unpack(t))",
		"assert(select('#', ('a'):rep(2 ^ 17):byte(1, -1)) == 2 ^ 17)",
	} {
		s := newSite(t, nil, nil)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		require.NoError(t, s.in.Run(context.Background(), "site.lua", script))
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20), script) // a small multiple of the values
	}
}

// The replacement string of gsub and string.byte work as in Lua.
func TestReplacementAndBytes(t *testing.T) {
	s := newSite(t, nil, nil)
	require.NoError(t, s.in.Run(context.Background(), "site.lua", `
		assert(('abc'):gsub('b', '[%0%1%%%.]x%') == 'a[bb%.]x%c')
		assert(('abc'):gsub('(b)()', '%1%2') == 'ab3c')
		assert(not pcall(string.gsub, 'abc', '(b)', '%2'))
		local function bytes(...) return table.concat({ ('abc'):byte(...) }, ' ') end
		assert(bytes() == '97' and bytes(2) == '98' and bytes(-1) == '99' and bytes(1, -1) == '97 98 99')
		assert(bytes(0) == '' and bytes(0, 9) == '97 98 99' and bytes(-9, 1) == '97' and bytes(3, 2) == '' and bytes(4) == '')`))
}

// The memory of strings is counted as they are made, however fast.
func TestStringMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("runs into every limit: make test-all")
	}
	for name, script := range map[string]string{
		"concat":       "local t, s = {}, ('x'):rep(2 ^ 25)\nwhile true do t[#t + 1] = s .. #t end",
		"rep":          "local t = {}\nwhile true do t[#t + 1] = ('x'):rep(2 ^ 26) end",
		"format":       "local t, s = {}, ('x'):rep(2 ^ 24)\nwhile true do t[#t + 1] = ('%s%d'):format(s, #t) end",
		"concat table": "local t, s = {}, ('x'):rep(2 ^ 24)\nwhile true do t[#t + 1] = table.concat { s, 'y' } end",
		"pcall":        "local t, s = {}, ('x'):rep(2 ^ 25)\nwhile true do pcall(function() t[#t + 1] = s .. #t end) end",
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, nil, func(o *luaapi.Options) { o.Memory = 256 << 20 })
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := s.in.Run(context.Background(), "site.lua", script)
			runtime.ReadMemStats(&after)
			require.ErrorContains(t, err, "script exceeded the memory limit of 256 MiB")
			require.ErrorContains(t, err, "site.lua:2")
			// Memory taken from the system; garbage is reused.
			require.Less(t, after.HeapSys-min(before.HeapSys, after.HeapSys), uint64(1<<30))
		})
	}
}

// Nested calls of pcall are limited as in Lua: errors pass through them quickly, also the one that ends the
// evaluation.
func TestProtectedCalls(t *testing.T) {
	for name, script := range map[string]string{
		"pcall":     "local function f() pcall(f) pcall(f) end\nf()",
		"xpcall":    "local function f() xpcall(f, f) xpcall(f, f) end\nf()",
		"loop":      "local function f() while true do pcall(f) end end\nf()",
		"metatable": "local m = {} m.__lt = function(a, b) pcall(function() return a < b end) return a < b end\nlocal x = setmetatable({}, m) < setmetatable({}, m)",
		"gsub":      "local function f() pcall(string.gsub, 'xx', '.', f) end\nf()",
		"load":      "local function f() local g = load('local f = ... pcall(f) pcall(f)') pcall(g, f) pcall(g, f) end\nf()",
		"concat":    "local m = {} local t = setmetatable({}, m) m.__concat = function(a, b) pcall(function() return a .. b end) return a .. b end\nlocal x = t .. t",
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, nil, func(o *luaapi.Options) { o.Timeout = 100 * time.Millisecond })
			begin := time.Now()
			err := s.in.Run(context.Background(), "site.lua", script)
			require.Less(t, time.Since(begin), 20*time.Second)
			require.ErrorIs(t, err, context.DeadlineExceeded)
		})
	}
	s := newSite(t, nil, nil)
	require.NoError(t, s.in.Run(context.Background(), "site.lua", `
local calls = { n = 0 }
local function f() calls.n = calls.n + 1 return select(2, pcall(f)) end
assert(f():find('stack overflow in protected calls'), 'no error')
assert(calls.n == 201, calls.n)
calls.n = 0
f()
assert(calls.n == 201, 'the second time')
`))
}
