pakage { "vim" } --> 1: undefined global "pakage" (did you mean "package"?)
---
local config = {}
do local hidden = {} end
print(conifg.x) --> 7: undefined global "conifg" (did you mean "config"?)
---
-- The nearest name is one that can be seen from here.
do local config = {} end
print(conifg) --> 7: undefined global "conifg"
---
local function f(options)
  return optoins.x --> 10: undefined global "optoins" (did you mean "options"?)
end
f {}
---
print(_G.zzzz) --> 7: undefined global "zzzz"
---
assert(rawget(_G, "nope") == nil)
---
-- An assignment is a mistake, and the script goes on with the value.
x = 5 --> 1: assignment to undefined global "x" (declare it with local x)
x = 6
function deploy(name) --> 10: assignment to undefined global "deploy" (declare it with local function deploy)
  y = name --> 3: assignment to undefined global "y" (declare it with local y)
end
deploy("a")
print(x, y) --: 6	a
file { "/a", mdoe = x } --> 14: file#/a: unknown property "mdoe" (did you mean "mode"?)
---
local count = 0
cuont = 1 --> 1: assignment to undefined global "cuont" (did you mean "count"? declare a new variable with local cuont)
---
for i = 1, 3 do
  last = nil --> 3: assignment to undefined global "last" (declare it with local last)
end
---
-- What Lua or ccm defines stays what it is elsewhere.
type = "web" --> 1: "type" is a global of ccm and cannot be replaced (declare a variable with local type)
file = 5 --> 1: "file" is a global of ccm and cannot be replaced (declare a variable with local file)
assert(_G.type(_G.file) == "table")
---
_G.helper = print --> 1: a script cannot define the global "helper" (pass values to modules as arguments)
---
pcall(function() z = 1 end) --> 18: assignment to undefined global "z" (declare it with local z)
---
print(arg[0], arg[1], arg[2], arg[3], #arg) --: testdata/globals.lua	one	two	nil	2
print(ccm.version, ccm.noop, require("ccm") == ccm) --: 1.2.3	true	true
print(env.HOME, env.NOPE, env.EMPTY == "") --: /home/me	nil	true
---
env.HOME = "x" --> 1: env.HOME is read-only (copy the table and change the copy)
---
for k in pairs(env) do end --> 10: env cannot be listed: read one variable, such as env.HOME
---
ccm.verison() --> 1: ccm: unknown name "verison" (did you mean "version"?)
---
ccm.noop = false --> 1: ccm.noop is read-only (copy the table and change the copy)
---
ccm.fail("no", 5, nil) --> 1: no 5 nil
file "relative"
---
-- Nothing goes on after ccm.fail.
local co = coroutine.wrap(function()
  pcall(function() pcall(ccm.fail, "stop") print("not printed") end) --> stop
end)
pcall(co)
xpcall(co, print)
print("not printed")
---
file "relative" --> 6: file#relative: path: expected an absolute path, got "relative"
ccm.fail() --> 1: the script failed
---
print(1, nil, true, 1.5, "x") --: 1	nil	true	1.5	x
print() --:
print(setmetatable({}, { __tostring = function() return "meta" end })) --: meta
