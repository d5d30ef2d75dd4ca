-- A variable kept its value where a condition gave false or nil, and loops had what was in registers before.
local x = { no = false, id = 1 }
x = x.no and x.id
print(x)
local node = { value = 1 }
node = node.next and node.next.value
print(node)
local function junk() local u = { {} } u[1].x = 1 u[1].x = u[1].x + 1 for k, v in next, { 5 } do print(k, v) end end
junk()
for k in next, { 7 } do print(k) end
local function rest(...) local a, b = 1, 2 a, b = ..., not x return a, b end
print(rest())
--[[out
false
nil
1	5
1
nil	true
]]
