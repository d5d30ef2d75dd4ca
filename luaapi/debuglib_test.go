package luaapi_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// debug.traceback and debug.getinfo say what they say in Lua 5.1.
func TestDebugLibrary(t *testing.T) {
	s := newSite(t, map[string]string{"site.lua": `local t = {}
function t.field(n) return (t:method(n)) end
function t:method(n) local text = debug.traceback("here", n) return text end
local function outer(n)
  local text = t.field(n)
  return text
end
print(outer())
print(outer(2))
print(select(2, xpcall(function() local x = nil + 1 end, debug.traceback)))
print(select(2, pcall(function() return (debug.traceback("x")) end)))
local function tail() local text = debug.traceback() return text end
print((function() return tail() end)())
local co = coroutine.create(function() local function wait() coroutine.yield() end wait() end)
coroutine.resume(co)
print(debug.traceback(co, "co"))
print(debug.traceback(t) == t, (debug.traceback(12):gsub("\n.*", "")))
local function deep(n) if n == 0 then return #debug.traceback():gsub("[^\n]", "") end local x = deep(n - 1) return x end
print(deep(100))

local function info(f, ...)
  local i, out = debug.getinfo(f, ...), {}
  for _, k in ipairs { "what", "source", "short_src", "currentline", "linedefined", "lastlinedefined", "name", "namewhat" } do
    out[#out + 1] = tostring(i[k])
  end
  return table.concat(out, " ")
end
print(info(outer))
print(info(print))
print(info(1))
print(info(2))
print(info(load "return 1"), "|", info(load("return 1", "=named")), "|", info(load("return 1", "")))
print(debug.getinfo(1, "f").func ~= nil, debug.getinfo(outer).func == outer, debug.getinfo(99), debug.getinfo(1).nups > 0)
`}, nil)
	require.Empty(t, s.run())
	require.Equal(t, `here
stack traceback:
	site.lua:3: in function 'method'
	site.lua:2: in function 'field'
	site.lua:5: in function 'outer'
	site.lua:8: in main chunk
here
stack traceback:
	site.lua:2: in function 'field'
	site.lua:5: in function 'outer'
	site.lua:9: in main chunk
site.lua:10: attempt to perform arithmetic on a nil value
stack traceback:
	site.lua:10: in function <site.lua:10>
	[C]: in function 'xpcall'
	site.lua:10: in main chunk
x
stack traceback:
	site.lua:11: in function <site.lua:11>
	[C]: in function 'pcall'
	site.lua:11: in main chunk
stack traceback:
	site.lua:12: in function <site.lua:12>
	(tail call): ?
	site.lua:13: in main chunk
co
stack traceback:
	site.lua:14: in function 'wait'
	site.lua:14: in function <site.lua:14>
true	12
23
Lua @site.lua site.lua -1 4 7 nil 
C =[C] [C] -1 -1 -1 nil 
Lua @site.lua site.lua 22 21 27 info local
main @site.lua site.lua 31 0 0 nil 
main return 1 (load) -1 0 0 nil 	|	main =named named -1 0 0 nil 	|	main return 1 (load) -1 0 0 nil 
true	true	nil	false
`, s.out.String())
}
