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
print(load("x =", "=mine")) --: nil	mine:1:4: expected a value, got the end of the text
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
("%d"):format("x") --> 2: "%d":format: argument 1: expected a number, got a string
---
("%y"):format(1) --> 2: string.format: unknown directive %y (write %% for a percent sign)
---
("50%"):format() --> 2: string.format: incomplete directive at the end of the format (write %% for a percent sign)
---
("x"):gsub("x", function() return {} end) --> 2: string.gsub: expected a string to replace "x", got a table
---
("x"):gsub("x", "%2") --> 2: string.gsub: the replacement has %2, the pattern 0 captures
---
("x"):find("[a") --> 2: malformed pattern "[a": expected ] to end the set
---
-- Tables.
local t = { "a", "b" }
table.insert(t, "c")
table.insert(t, 1, "z")
print(table.concat(t, ","), table.remove(t), table.remove(t, 1), #t, table.remove({})) --: z,a,b,c	c	z	2
table.sort(t, function(a, b) return a > b end)
print(table.concat(t, ","), table.concat({ 1, 2, 3 }, "-", 2, 3), table.concat({}), table.maxn { 1, 2 }, table.getn { 1 }) --: b,a	2-3		2	1
---
table.concat({ 1, {} }, ",") --> 1: table.concat: expected a string or a number, got a table as item 2
---
table.insert({}, 0, "x") --> 1: table.insert: argument 2: the position must be at least 1
---
table.insert({}) --> 1: table.insert: expected a table, optionally a position, and a value
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
print(pcall(string.rep)) --: false	testdata/lua.lua:167: bad argument #1 to '?' (string expected, got nil)
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
  print(pcall(coroutine.yield)) --: false	testdata/lua.lua:178: attempt to yield across metamethod/C-call boundary
end)
print(coroutine.resume(co)) --: true
print(coroutine.status(co), coroutine.resume(co)) --: dead	false	cannot resume dead coroutine
print(coroutine.running()) --: nil
---
-- Formats of numbers.
local f = string.format
print(f("%g %f %e|%G %E|%+g|% g|%08g|%-8g|%8.3f|", 1/0, -1/0, 1/0, 1/0, -1/0, 1/0, 1/0, 1/0, 1/0, 1/0)) --: inf -inf inf|INF -INF|+inf| inf|     inf|inf     |     inf|
print((f("%g %5.1f %G", 0/0, 0/0, 0/0):gsub("-", ""):gsub(" +", " "))) --: nan nan NAN
print(f("%#x %#o %#X %#x %#o|%#.3x|%5.0d|%05.3d|%.0x|%#08x", 0, 0, 0, 255, 8, 0, 0, 5, 0, 255)) --: 0 0 0 0xff 010|000|     |  005||0x0000ff
print(f("|%5c|%-5c|%c", 65, 66, 67), #f("%c", 0)) --: |    A|B    |C	1
print(f("%+u|% u|%+x|%+d|% d|%-+5d|%x|%-05d|%+05d", 7, 7, 255, 7, 7, 7, -1, 42, 42)) --: 7|7|ff|+7| 7|+7   |ffffffffffffffff|42   |+0042
print(f("|%5s|%-5s|%.1s|%5.1s|%d", "a", "a", "abc", "abc", "12")) --: |    a|a    |a|    a|12
---
-- Texts are numbers by the rules of Lua.
print(tonumber "-0x10", tonumber "+0x10", tonumber "0x1p4", tonumber "0x.8", tonumber "0x", tonumber "- 1", tonumber "1e", tonumber ".5", tonumber "5.", tonumber ".") --: -16	16	16	0.5	nil	nil	nil	0.5	5	nil
print(tonumber("0x10", 10), tonumber("1e1", 10), tonumber("+10", 8), tonumber("-ff", 16), tonumber(10, 16), tonumber("1_0", 8)) --: 16	10	8	-255	16	nil
print("010" + 0, "08" * 2, "0x10" + 1, -"010", 2 ^ "3", "7" % 4, "10" - 1, 9 / "3") --: 10	16	17	-10	8	3	9	3
print(pcall(function() return "0b1" + 0 end)) --: false	testdata/lua.lua:197: attempt to perform arithmetic on a string value
print(pcall(function() return 1 + "1_0" end)) --: false	testdata/lua.lua:198: attempt to perform arithmetic on a string value
local mt = { __add = function(a, b) return type(a) .. type(b) end }
print("10" + setmetatable({}, mt), setmetatable({}, mt) + "x", "x" + setmetatable({}, mt)) --: stringtable	tablestring	stringtable
print(select("2", "a", "b"), math.floor("010.5"), ("x"):rep("03"), ("abc"):sub("2"), ("abc"):byte("2"), string.char("65"), math.max("010", 9)) --: b	10	xxx	bc	98	A	10
for i = "1", "2" do print(i + i) end --: 2 --: 4
for i = "3", 1, "-1" do print(i, type(i)) end --: 3	number --: 2	number --: 1	number
---
for i = "x", 2 do end --> 9: the first value of for: expected a number, got the string "x"
---
for i = 1, nil do end --> 12: the last value of for: expected a number, got nil
---
-- Functions of older Lua.
print(math.mod(-7, 3), table.foreach({ 4, 5 }, function(k, v) if k == 2 then return v end end), table.foreachi({}, print)) --: -1	5
table.foreach({ a = 1 }, print) --: a	1
for w in string.gfind("a b", "%a") do print(w) end --: a --: b
print(rawlen { 1, 2 }, rawlen "abc") --: 2	3
local t = { 1, 2 }
table.insert(t, 5, "x")
print(t[3], t[5], select("#", table.remove {}), select("#", table.remove({ 1 }, 3)), table.maxn { [24.5] = 1 }, table.maxn { [-1] = 1 }) --: nil	x	0	0	24.5	0
print(("aÄz"):upper() == "AÄZ", ("A\200"):lower() == "a\200", pcall(string.char, 256)) --: true	true	false	testdata/lua.lua:217: bad argument #1 to '?' (the code is not within 0 to 255)
print(pcall(function() error(42) end)) --: false	testdata/lua.lua:218: 42
print(pcall(error, 42, 0)) --: false	42
---
-- Errors that scripts catch have the words of Lua.
local p = function(f, ...) print((select(2, pcall(f, ...)):gsub("^.-:%d+: ", ""))) end
local up, t = nil, {}
p(function() local x return x.y end) --: attempt to index local 'x' (a nil value)
p(function() return up.y end) --: attempt to index upvalue 'up' (a nil value)
p(function() return t.a.b end) --: attempt to index field 'a' (a nil value)
p(function() return t[1].b end) --: attempt to index field '?' (a nil value)
p(function() local x = 5 x.y = 1 end) --: attempt to index local 'x' (a number value)
p(function() t:a() end) --: attempt to call method 'a' (a nil value)
p(function() t.a() end) --: attempt to call field 'a' (a nil value)
p(function() print.x() end) --: attempt to index global 'print' (a function value)
p(function() (nil)() end) --: attempt to call a nil value
p(function() for k in t do end end) --: attempt to call a table value
p(nil) --: attempt to call a nil value
p(function() return 1 + t.a end) --: attempt to perform arithmetic on field 'a' (a nil value)
p(function() return up ^ 2 end) --: attempt to perform arithmetic on upvalue 'up' (a nil value)
p(function() return 2 ^ "x" end) --: attempt to perform arithmetic on a string value
p(function() return -t end) --: attempt to perform arithmetic on upvalue 't' (a table value)
p(function() return #t.x end) --: attempt to get length of field 'x' (a nil value)
p(function() local x return "a" .. x .. "b" .. t.y .. up end) --: attempt to concatenate upvalue 'up' (a nil value)
p(function() return "a" .. {} end) --: attempt to concatenate a table value
p(function() return 1 < nil end) --: attempt to compare number with nil
p(function() return {} < {} end) --: attempt to compare two table values
p(function() t[nil] = 1 end) --: table index is nil
p(function() for i = 1, t.x do end end) --: 'for' limit must be a number
p(function() for i = t, 1 do end end) --: 'for' initial value must be a number
p(function() ("x"):rep({}) end) --: bad argument #1 to 'rep' (number expected, got table)
p(function() string.rep("x") end) --: bad argument #2 to 'rep' (number expected, got no value)
p(function() string.rep(nil, 1) end) --: bad argument #1 to 'rep' (string expected, got nil)
p(function() t.f = math.floor t.f({}) end) --: bad argument #1 to 'f' (number expected, got table)
print(xpcall(function() return t.a.b end, function(m) return "H " .. m end)) --: false	H testdata/lua.lua:251: attempt to index field 'a' (a nil value)
print(coroutine.resume(coroutine.create(function() return t.a.b end))) --: false	testdata/lua.lua:252: attempt to index field 'a' (a nil value)
local n
print(pcall(function() return { --: false	testdata/lua.lua:256: table index is nil
  1,
  [n] = 1, [2] = 3 }
end))
---
local n, t = nil, {}
local list = {
  a = 1,
  [t] = 3,
  [n] = 2, --> 4: the key 'n' of the table is nil
}
---
local n, t, u = nil, {}, { name = "x" }
local function list()
  return {
    [u.name] = 3,
    [t.name] = 2, --> 6: the key 'name' of the table is nil
    [t] = 3,
  }
end
list()
---
local o = setmetatable({}, { __index = function(_, k) if k == "a" then return function(o) return o end end end })
o
  :a()
  :b() --> 4: o:a():b: 'b' is nil, not a function
---
local y = 0x1fg --> 11: malformed number near "0x1fg"
---
local x, y, t = 1, 2, {}
local z = "a" .. x .. y .. t.zz .. y .. "b" --> 28: t.zz: 'zz': expected a string or a number, got nil
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
