-- What Lua 5.1 and 5.2 have and gopher-lua has not, or has differently.
print(table.unpack { 1, 2, 3 }) --: 1	2	3
print(unpack({ 1, 2, 3 }, 2, 3)) --: 2	3
print(unpack({}, 1, 0)) --:
local p = table.pack("a", nil, "c")
print(p.n, p[1], p[2], p[3]) --: 3	a	nil	c
print(load("return 1 + ...")(2), loadstring("return 5")()) --: 3	5
print(type(load(function() return nil end))) --: function
---
local pieces = { "return ", "4", "2" }
local i = 0
print(load(function() i = i + 1; return pieces[i] end)()) --: 42
print(load("x =", "=mine")) --: nil	mine:1:4: want a value, got the end of the text
print(load("return y", "mine", "t", { y = 5 })()) --: 5
print(select(2, pcall(load("error('e')", "@named")))) --: named:1: e
print(tonumber("1e3"), tonumber("0x1F"), tonumber(" 12 "), tonumber("z", 36), tonumber("1_0"), tonumber("inf"), tonumber(""), tonumber("12x")) --: 1000	31	12	35	nil	nil	nil	nil
print(tonumber("ff", 16), tonumber("0xff", 16), tonumber("8", 8), tonumber(nil), tonumber(5), tonumber("1.5"), tonumber("-3")) --: 255	255	nil	nil	5	1.5	-3
local t = setmetatable({}, { __pairs = function() return function(_, k) if not k then return 1, "one" end end end })
for k, v in pairs(t) do print(k, v) end --: 1	one
---
-- Patterns.
print(("key = value"):match("^(%w+)%s*=%s*(%w+)$")) --: key	value
print(("hello"):find("l"), ("hello"):find("l+"), ("hello"):find("(l)(l)")) --: 3	3	3	4	l	l
print(("a.b"):find(".", 1, true), ("a.b"):find("%."), ("abc"):find("b", -1), ("abc"):find("b", -2)) --: 2	2	nil	2	2
print(("abc"):find("", 10), ("abc"):find("", 2), ("abc"):match("()", 2)) --: 4	2	2
print(("hello world"):gsub("o", "0")) --: hell0 w0rld	2
print(("hello"):gsub("", "-")) --: -h-e-l-l-o-	6
print(("abc"):gsub("%w", "%0%0", 2), ("abc"):gsub("(a)(b)", "%2%1"), ("abc"):gsub("^a", "x"), ("aaa"):gsub("^a", "x")) --: aabbc	bac	xbc	xaa	1
print(("$name is $age"):gsub("%$(%w+)", { name = "me", age = 5 })) --: me is 5	2
print(("abc"):gsub(".", function(c) if c == "b" then return "[" .. c .. "]" end end)) --: a[b]c	3
print(("50%"):gsub("%%", "%%%%"), ("a,b"):gsub(",", "%,")) --: 50%%	a,b	1
for k, v in ("a=1, b=2"):gmatch("(%w+)=(%w+)") do print(k, v) end --: a	1 --: b	2
for w in ("one two"):gmatch("%a+") do print(w) end --: one --: two
local n = 0
for _ in ("abc"):gmatch("") do n = n + 1 end
print(n, ("THE (quick) fox"):find("%((%a+)%)"), ("x^y"):gmatch("^y")()) --: 4	5	^y
print(("  trim  "):match("^%s*(.-)%s*$") .. "|") --: trim|
---
-- Formats.
print(("%d %5d|%-5d|%05d %+d %i"):format(1, 2, 3, 4, 5, 6.9)) --: 1     2|3    |00004 +5 6
print(("%x %X %#x %o %c %u"):format(255, 255, 255, 8, 65, 7)) --: ff FF 0xff 10 A 7
print(("%.2f %5.1f|%e %g %g %g"):format(1.005, 2.25, 12345.678, 0.1, 1e20, 100000)) --: 1.00   2.2|1.234568e+04 0.1 1e+20 100000
print(("%s %s %s|%5s|%-5s|%.2s"):format(nil, true, "x", "ab", "ab", "abcdef")) --: nil true x|   ab|ab   |ab
print(("%q"):format('a "b"\\')) --: "a \"b\"\\"
print(("%%|%5.3d|%.0d"):format(7, 0)) --: %|  007|
---
("%d"):format("x") --> 2: "%d":format: argument 1: want a number, got a string
---
("%y"):format(1) --> 2: string.format: there is no directive %y (a percent sign itself is written %%)
---
("50%"):format() --> 2: string.format: the format ends in the middle of a directive (a percent sign itself is written %%)
---
("x"):gsub("x", function() return {} end) --> 2: string.gsub: want a string to put in the place of "x", got a table
---
("x"):gsub("x", "%2") --> 2: string.gsub: the replacement has %2, the pattern 0 captures
---
("x"):find("[a") --> 2: malformed pattern "[a": want ] to end the set
---
-- Tables.
local t = { "a", "b" }
table.insert(t, "c")
table.insert(t, 1, "z")
print(table.concat(t, ","), table.remove(t), table.remove(t, 1), #t, table.remove({})) --: z,a,b,c	c	z	2	nil
table.sort(t, function(a, b) return a > b end)
print(table.concat(t, ","), table.concat({ 1, 2, 3 }, "-", 2, 3), table.concat({}), table.maxn { 1, 2 }, table.getn { 1 }) --: b,a	2-3		2	1
---
table.concat({ 1, {} }, ",") --> 1: table.concat: item 2 is a table, want a string or a number
---
table.insert({}, 5, "x") --> 1: table.insert: argument 2: the position is not within 1 to 1
---
table.insert({}) --> 1: table.insert: want a table, maybe a position, and a value
---
-- All values of an assignment are evaluated before it is made.
local a, b = 1, 2
a, b = b, a
print(a, b) --: 2	1
local x, y = 48, 18
while y ~= 0 do x, y = y, x % y end
print(x) --: 6
local t = { x = 1 }
local u = t
t, t.x = { x = 5 }, 7
print(t.x, u.x) --: 5	7
local i, list = 1, {}
i, list[i] = i + 1, 20
print(i, list[1], list[2]) --: 2	20	nil
local function swap(p, q) p, q = q, p return p, q end
print(swap(1, 2)) --: 2	1
local n = 1
local function read() return n end
local m
n, m = 5, read()
print(n, m) --: 5	1
local p, q, r = 1, 2
p, q, r = q, (function() return p, 9 end)()
print(p, q, r) --: 2	1	9
local s, v = {}, 3
s.a, s.b, v = v, v + 1, s
print(v.a, v.b) --: 3	4
a, a = 1, 2
print(a) --: 1
local o = setmetatable({}, { __index = function(_, key) return a .. key end })
a, b = 7, o.k
print(a, b) --: 7	1k
---
-- After a caught error functions share their variables as before.
local errors = 0
local function note() errors = errors + 1 end
for _, p in ipairs { "a", "b" } do
  if not pcall(error, p) then note() end
end
pcall(error, "x") note()
pcall(function() local x = {} < {} end) note()
xpcall(error, function() end) note()
print(errors) --: 5
errors = 0
local function outer()
  local count = 0
  local function add() count = count + 1 end
  for _ = 1, 3 do pcall(function() add() error("x") end) add() end
  return count
end
print(outer()) --: 6
---
-- A closure made by a function that failed keeps its variables.
local read
xpcall(function() local a = "v" read = function() return a end error("x") end, function(e) return e end)
local x, y = 1, 2
print(read(), x, y) --: v	1	2
pcall(function() local a = "w" read = function() return a end local b = nil + a end)
x, y = 3, 4
print(read(), x, y) --: w	3	4
---
-- The name is not yet known in the value of local f = function.
local print = function(...) return print("w", ...) end
print(1) --: w	1
local x = 5
do
  local x = function() return x end
  print(x()) --: w	5
end
local function fac(n) if n == 0 then return 1 end return n * fac(n - 1) end
print(fac(5)) --: w	120
local file = function(t) t.owner = t.owner or "root" return file(t) end --= file#/tmp/zz
file { "/tmp/zz", content = "x" }
---
-- The operand of # is evaluated once.
local n = 0
local t = setmetatable({}, { __index = function() n = n + 1 return "abc" end })
print(#t.x, n) --: 3	1
---
-- Lists are sorted up to their length.
local t = { 3, 1, 2 }
t[#t] = nil
table.sort(t)
print(t[1], t[2], t[3]) --: 1	3	nil
t = { 3, 1, nil }
table.sort(t, function(a, b) return a > b end)
print(t[1], t[2]) --: 3	1
print(pcall(table.sort, { 2, 1 }, function() error("e", 0) end)) --: false	e
print(math.huge == 1 / 0, -math.huge < -1e308) --: true	true
---
-- Levels of errors count protected calls, and traces go through them.
local function level(n) error("l", n) end
print(pcall(function() level(1) end)) --: false	testdata/lua.lua:164: l
print(pcall(function() level(2) end)) --: false	testdata/lua.lua:166: l
print(pcall(string.rep)) --: false	testdata/lua.lua:167: bad argument #1 to (anonymous) (string expected, got nil)
print(pcall(error, " x")) --: false	 x
print(pcall(function() return pcall(select, "#", 1, 2) end)) --: true	true	2
---
-- The status of a coroutine is seen through protected calls.
local co
co = coroutine.create(function()
  pcall(function() print(coroutine.status(co), coroutine.running() == co) end) --: running	true
  print(pcall(coroutine.resume, co)) --: true	false	cannot resume running coroutine
  local inner = coroutine.wrap(function() print(coroutine.status(co)) end)
  pcall(inner) --: normal
  print(pcall(coroutine.yield)) --: false	testdata/lua.lua:178: attempt to yield across a protected call
end)
print(coroutine.resume(co)) --: true
print(coroutine.status(co), coroutine.resume(co)) --: dead	false	cannot resume dead coroutine
print(coroutine.running()) --: nil
---
-- A variable gets the value of a condition also when that is false.
local x = { id = 1, no = false }
x = x.no and x.id
print(x) --: false
local node = { value = 1 }
node = node.next and node.next.value
print(node) --: nil
x = not 1 and 2
print(x) --: false
local function first(...)
  local y, z = 5, 6
  y, z = ..., not x
  return y, z
end
print(first(), first(3)) --: nil	3	true
local function last(p) p = (rawget({}, 1)) return p, 1 end
print(last(3)) --: nil	1
local n = 3
n = (n > 5 and n or n < 2) and n
print(n) --: false
---
-- The hidden variables of a loop are nil where the loop has no value for them.
local function junk() local u = { {} } u[1].x = 1 u[1].x = u[1].x + 1 for k, v in next, { 5 } do print(k, v) end end
junk() --: 1	5
local t = { 10, 20 }
local keys = {}
for k in next, t do keys[#keys + 1] = k end
print(unpack(keys)) --: 1	2
local n = 0
for count, a, b in function(...) n = n + 1 if n < 2 then return select("#", ...), ... end end do print(count, a, b) end --: 2	nil	nil
local function rest() return t, nil end
for k in next, rest() do print(k) break end --: 1
