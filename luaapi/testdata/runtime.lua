local host = {}
print(host.nope.deeper) --> 7: host.nope.deeper: 'nope' is nil
---
local host = { sub = {} }
host.sub.x.y = 5 --> 1: host.sub.x.y: 'x' is nil
---
local host = { name = "x" }
print(host.nmae.first) --> 7: host.nmae.first: 'nmae' is nil (did you mean "name"?)
---
local n = 5
print(n.x) --> 7: n.x: 'n' is a number, not a table
---
local t = {}
print(t[1].x) --> 7: t[1].x: 't[1]' is nil
---
local t, k = {}, "a"
print(t[k].x) --> 7: t[k].x: 't[k]' is nil
---
local function f() end
print(f().x) --> 7: f().x: the result of f() is nil
---
local host = { setup = print }
host.setpu() --> 1: host.setpu: 'setpu' is nil, not a function (did you mean "setup"?)
---
local host = {}
host:setup() --> 1: host:setup: 'setup' is nil, not a function
---
local host = { sub = {} }
host.sub.setup() --> 1: host.sub.setup: 'setup' is nil, not a function
---
local f
f() --> 1: 'f' is nil, not a function
---
local up = {}
local function f()
  up.missing() --> 3: up.missing: 'missing' is nil, not a function
end
f()
---
local t = {}
return t.x() --> 8: t.x: 'x' is nil, not a function
---
table.isnert({}, 1) --> 1: table.isnert: 'isnert' is nil, not a function (did you mean "insert"?)
---
("x"):bogus() --> 2: "x":bogus: 'bogus' is nil, not a function
---
local file = "/etc/motd"
file { file } --> 1: 'file' is the string "/etc/motd", not a function (rename the variable: it hides the file of ccm)
---
local t = {}
print(1 + t.count) --> 11: t.count: 'count': expected a number, got nil
---
local a = "x"
print(a * 2) --> 7: 'a': expected a number, got the string "x"
---
local t = {}
print("a" .. 1 .. t.name .. "b") --> 19: t.name: 'name': expected a string or a number, got nil
---
print("a" .. {}) --> 14: the value: expected a string or a number, got a table
---
local t = { x = 1 }
print("a" .. t) --> 14: 't': expected a string or a number, got a table
---
local t = {}
if t.x < 3 then end --> 4: cannot compare nil with a number: 'x' is nil
---
local t = {}
if 3 >= t.x then end --> 9: cannot compare a number with nil: 'x' is nil
---
if "3" > 4 then end --> 4: cannot compare a number with a string
---
local t
print(#t) --> 8: 't': expected a table or a string, got nil
---
local t
print(-t) --> 8: 't': expected a number, got nil
---
for i = 1, nil do end --> 12: the last value of for: expected a number, got nil
---
local t = {}
for i = t.first, 2 do end --> 9: the first value of for: expected a number, got nil
---
local t = { users = {} }
for k, v in pairs(t.usres) do end --> 19: pairs: 'usres': expected a table, got nil (did you mean "users"?)
---
local t = {}
for k, v in t do end --> 13: for ... in: 't' is a table, not an iterator (use pairs(t) or ipairs(t))
---
local t, k = {}
t[k] = 1 --> 3: t[k]: the key 'k' is nil
---
local t = { [0 / 0] = 1 } --> a key of the table is NaN
---
string.rep("x", {}) --> 1: string.rep: argument 2: expected a number, got a table
---
local s = "x"
s:rep(nil) --> 1: s:rep: argument 1: expected a number, got nil
---
string.rep() --> 1: string.rep: argument 1: expected a string, got nil
---
setmetatable(1, {}) --> 1: setmetatable: argument 1: expected a table, got a number
---
local function f() return 1 + f() end --> stack overflow: more than 4096 nested calls (look for a function that calls itself without end)
f()
---
local function f() return f end
f()()()().x() --> 1: f()()()().x: the result of f()()()() is a function, not a table
---
error("my message") --> 1: my message
---
error("my message", 0) --> 1: my message
---
local function check(x)
  error("wrong: " .. x, 2)
end
check(5) --> 1: wrong: 5
---
error() --> 1: error called without a message
---
error { code = 5, message = "from a table" } --> 1: from a table
---
error { 1, "x", y = { z = true } } --> 1: { 1, "x", y = { z = true } }
---
error(setmetatable({}, { __tostring = function() return "custom" end })) --> 1: custom
---
assert(1 == 2, "asserted") --> 1: asserted
---
assert(nil) --> 1: assertion failed!
---
assert(false, { message = "table" }) --> 1: table
---
-- What a call passes on is what it throws.
local ok, err = pcall(error, { code = 7 })
assert(not ok and err.code == 7)
local ok, err = pcall(function() error("x") end)
print(err) --: testdata/runtime.lua:135: x
local ok, err = pcall(function() local x; return x.y end)
print(err) --: testdata/runtime.lua:137: attempt to index local 'x' (a nil value)
local ok, err = pcall(error)
print(ok, err) --: false	nil
print(pcall(function(...) return select("#", ...), ... end, 1, nil, 3)) --: true	3	1	nil	3
print(pcall(5)) --: false	testdata/runtime.lua:142: attempt to call a number value
---
-- An error that is thrown again keeps its place.
local ok, err = pcall(function() error("x") end) --> x
error(err, 0)
---
print(select(2, xpcall(function(a) error("no " .. a) end, function(m) return "handled " .. m end, "arg"))) --: handled testdata/runtime.lua:148: no arg
print(xpcall(function(...) return ... end, print, 1, 2)) --: true	1	2
---
local co = coroutine.wrap(function() local x; x.y = 1 end) --> 47: x.y: 'x' is nil
co()
---
local co = coroutine.create(function(a)
  local b = coroutine.yield(a + 1)
  error("end " .. b)
end)
print(coroutine.resume(co, 1)) --: true	2
print(coroutine.resume(co, "x")) --: false	testdata/runtime.lua:156: end x
print(coroutine.status(co), coroutine.resume(co)) --: dead	false	cannot resume dead coroutine
local gen = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end)
print(gen(), gen(), gen()) --: 1	2	3
---
local function f() coroutine.wrap(f)() end --> too many coroutines that wait for one another: more than 100
f()
---
coroutine.yield(1) --> 1: yield called outside of a coroutine
---
print((debug.traceback("here"):gsub("%s+", " "))) --: here stack traceback: testdata/runtime.lua:169: in main chunk
---
table { 1 } --> 1: 'table' is a table, not a function (call one of its functions, as table.NAME(...))
