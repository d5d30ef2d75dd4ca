package luaapi_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/catalog"
)

// repeated returns n texts with their numbers from 1 on, joined.
func repeated(n int, format, sep string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = strings.ReplaceAll(format, "N", fmt.Sprint(i+1))
	}
	return strings.Join(list, sep)
}

// What needs more registers than gopher-lua has.
func TestManyVariables(t *testing.T) {
	variables := repeated(199, "local vN = N\n", "")
	for _, c := range []struct{ name, script, want string }{
		{"199 variables", variables + "print(v1, v150, math.max(v2, v199, v120), v1 .. v199)", "1\t150\t199\t1199\n"},
		{"200 variables", variables + "local last = v198\nprint(last + v199)", "397\n"},
		{"assigned", variables + "v1, v198, v199 = v199, v1, v198\nprint(v1, v198, v199)", "199\t1\t198\n"},
		{"captured", variables + "local f = function() v199 = v199 + 1 return v199 end\nprint(f(), v199)", "200\t200\n"},
		{"199 declarations", repeated(199, `local hN = file { "/tmp/N", content = "x" }`+"\n", "") + "print(h1.name, h199.name)", "/tmp/1\t/tmp/199\n"},
		{"shadowed", "do " + variables + "do local v150 = v150 .. 'x' print(v150) end print(v150) end", "150x\n150\n"},
		{"again in one scope", repeated(150, "local vN = N\n", "") + "local f = function() return v150 end\nlocal v150 = v150 + 1\nprint(f(), v150)", "150\t151\n"},
		{"recursive", repeated(150, "local vN = N\n", "") + "local function f(n) return n == 0 and v150 or f(n - 1) end\nprint(f(3))", "150\n"},
		{"own in each round", repeated(150, "local vN = N\n", "") +
			"local list = {}\nfor i = 1, 2 do local x = i list[i] = function() x = x + 1 return x end end\nprint(list[1](), list[1](), list[2]())", "2\t3\t3\n"},
		{"several values", repeated(150, "local vN = N\n", "") + "local a, b, c = (function() return 1, 2 end)()\nprint(a, b, c)", "1\t2\tnil\n"},
		{"methods", repeated(150, "local vN = N\n", "") + "local o = {}\nfunction o:m() return self == o end\nfunction o.f(...) return select('#', ...) end\nprint(o:m(), o.f(1, 2))", "true\t2\n"},
		{"until", repeated(150, "local vN = N\n", "") + "repeat local done = v150 > 1 until done\nprint('end')", "end\n"},
		{"parameters", "local function f(" + repeated(198, "pN", ", ") + ") local x = p198 return x + p1 end\nprint(f(" + repeated(198, "N", ", ") + "))", "199\n"},
		{"200 arguments", "print(select('#', " + repeated(200, "N", ", ") + "))", "200\n"},
		{"nil among arguments", "print(select('#', " + repeated(230, "nil", ", ") + "))", "230\n"},
		{"values at the end", "local f = function() return 7, 8 end\nprint(select(-2, " + repeated(100, "f()", ", ") + "))", "7\t8\n"},
		{"one value at the end", "local f = function() return 7, 8 end\nprint(select(-2, " + repeated(99, "N", ", ") + ", (f())))", "99\t7\n"},
		{"arguments of a method", "local o = { m = function(_, ...) return select('#', ...) end }\nprint(o:m(" + repeated(150, "N", ", ") + "))", "150\n"},
		{"joined", "local x, y = 'a', 'b'\nprint(#(" + repeated(900, "x .. y", " .. ") + "))", "1800\n"},
		{"joined constants", "print(#(" + repeated(200, `"x"`, " .. ") + "))", "200\n"},
		{"joined objects", "local t = setmetatable({}, { __concat = function(a, b) return type(a) .. type(b) end })\nprint(" + repeated(80, `"a"`, " .. ") + " .. t .. " + repeated(80, `"b"`, " .. ") + ")",
			strings.Repeat("a", 80) + "tablestring\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b catalog.Builder
			var out bytes.Buffer
			in := luaapi.New(options(t, &b, &out))
			defer in.Close()
			require.NoError(t, in.Run(context.Background(), "site.lua", c.script))
			require.Equal(t, c.want, out.String())
		})
	}
}

func TestTooManyVariables(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"variables", repeated(200, "local vN\n", "") + "local more",
			"site.lua:201:7: too many local variables: the limit is 200 per function (put the variables into a table, or enclose parts of the code in do ... end)"},
		{"variables of a loop", repeated(198, "local vN\n", "") + "for i = 1, 2 do end",
			"site.lua:199:5: too many local variables: the limit is 200 per function (put the variables into a table, or enclose parts of the code in do ... end)"},
		{"depth", "print(1)\n" + repeated(150, "local vN = N\n", "") + "print(" + strings.Repeat("print(", 150) + strings.Repeat(")", 150) + ")",
			"site.lua:152:1: the expression is too long or nested too deeply (split it, or join many strings with table.concat)"},
		{"captured", repeated(150, "local vN = N\n", "") + "local function outer()\n" + repeated(150, "local wN = N\n", "") +
			"return function()\nreturn " + repeated(150, "vN + wN", " + ") + " end end",
			"site.lua:302:8: the function uses 300 variables of enclosing functions, the limit is 255 (put the variables into a table)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b catalog.Builder
			in := luaapi.New(options(t, &b, new(bytes.Buffer)))
			defer in.Close()
			require.EqualError(t, in.Run(context.Background(), "site.lua", c.script), c.want)
		})
	}
}

// The trace of an error does not go through all calls that tail calls replaced.
func TestEndlessTailCallIsEnded(t *testing.T) {
	for _, script := range []string{
		"local function f() return f() end f()",
		"local function f() return f() end pcall(f)",
		"local function f() return f() end coroutine.wrap(f)()",
	} {
		opts := options(t, new(catalog.Builder), new(bytes.Buffer))
		opts.Timeout = 200 * time.Millisecond
		in := luaapi.New(opts)
		require.ErrorContains(t, in.Run(context.Background(), "site.lua", script), "script exceeded the time limit of 200ms")
		in.Close()
	}
}

// A caught error after very many tail calls names its place without writing out the calls.
func TestErrorAfterManyTailCalls(t *testing.T) {
	var out bytes.Buffer
	in := luaapi.New(options(t, new(catalog.Builder), &out))
	defer in.Close()
	require.NoError(t, in.Run(context.Background(), "site.lua",
		"local function f(n) if n == 0 then error('end') end return f(n - 1) end\nprint(pcall(f, 1e6))\nprint(pcall(function() error('far', 1e6) end))"))
	require.Equal(t, "false\tsite.lua:1: end\nfalse\tfar\n", out.String())
}
