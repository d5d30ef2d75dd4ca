for _, name in ipairs { "io", "dofile", "loadfile", "collectgarbage", "newproxy", "module", "setfenv", "getfenv", "channel", "_printregs", "_GOPHER_LUA_VERSION" } do
  assert(rawget(_G, name) == nil, name)
end
local function names(t)
  local out = {}
  for k in pairs(t) do out[#out + 1] = k end
  return table.concat(out, " ")
end
print(names(os)) --: clock date difftime time
print(names(debug)) --: traceback getinfo getmetatable setmetatable
print(names(coroutine)) --: create running status yield resume wrap
print(names(table)) --: concat foreach foreachi getn insert maxn pack remove sort unpack
print(names(string)) --: len reverse sub byte char find format gfind gmatch gsub lower match rep upper
print(package.loadlib, package.seeall, string.dump, package.cpath == "") --: nil	nil	nil	true
print(getmetatable("").__index == string, ("x"):upper()) --: true	X
---
io.open("/etc/passwd") --> 1: undefined global "io" (scripts only declare: write a file with file { ... })
---
os.execute("ls") --> 1: os.execute: 'execute' is nil, not a function (scripts only declare: run a command with exec { ... })
---
os.exit() --> 1: os.exit: 'exit' is nil, not a function (end a script with ccm.fail(message))
---
os.getenv("HOME") --> 1: os.getenv: 'getenv' is nil, not a function (read the environment with env.NAME)
---
dofile("x.lua") --> 1: undefined global "dofile" (use require)
---
print(debug.sethook(1)) --> 7: debug.sethook: 'sethook' is nil, not a function
---
-- No call makes a string without end, and none keeps busy for ever.
print(("x"):rep(2 ^ 30)) --> 8: string.rep: the result must be at most 64 MiB
---
print(("x"):rep(1e18)) --> 8: string.rep: the result must be at most 64 MiB
---
print(#(""):rep(1e18), #("ab"):rep(3), ("ab"):rep(3, "-"), ("ab"):rep(0), ("ab"):rep(-1), ("ab"):rep(1, "-")) --: 0	6	ab-ab-ab			ab
---
local big = ("x"):rep(2 ^ 20)
big:gsub(".", big) --> 1: string.gsub: the result must be at most 64 MiB
---
local t = {}
for i = 1, 100 do t[i] = ("x"):rep(2 ^ 20) end
table.concat(t) --> 1: table.concat: the result must be at most 64 MiB
---
local a = ("a"):rep(28)
a:match(("a?"):rep(28) .. a .. "b") --> 1: the pattern is too complex for this text
---
("x"):rep(1000):find(".-.-.-.-.-y") --> 2: the pattern is too complex for this text
---
for _ in ("x"):rep(1000):gmatch(".-.-.-.-y") do end --> the pattern is too complex for this text
---
string.format("%1000d", 1) --> 1: string.format: the width or precision in %1000d has more than two digits
---
unpack({}, 1, 1e8) --> 1: too many values in one call: the limit is about 1048576
---
local t = {}
for i = 1, 50000 do t[i] = i end
print(select("#", unpack(t)), #table.concat(t, ","), math.max(unpack(t))) --: 50000	288893	50000
---
load(("("):rep(2 * 2 ^ 20)) --> 1: load: argument 1: the text must be at most 1 MiB
---
-- What a script computes with is the same in every run.
print(math.random(1000), math.random(5, 6), math.random() < 1) --: 599	5	true
math.randomseed(7)
local a = math.random(1e6)
math.randomseed(7)
assert(a == math.random(1e6))
---
math.random(0) --> 1: math.random: argument 1: the interval is empty
