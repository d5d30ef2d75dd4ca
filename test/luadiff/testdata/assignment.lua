-- An assignment to several variables was made one value after the other.
local a, b = 1, 2
a, b = b, a
print(a, b)
local x, y = 48, 18
while y ~= 0 do x, y = y, x % y end
print(x)
local t = {x = 1}
local u = t
t, t.x = {x = 5}, 7
print(t.x, u.x)
local function rotate(p, q, r) p, q, r = q, r, p return p, q, r end
print(rotate(1, 2, 3))
local i, list = 1, {}
i, list[i] = i + 1, 20
print(i, list[1], list[2])
--[[out
2	1
6
5	7
2	3	1
2	20	nil
]]
