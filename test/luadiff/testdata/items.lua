-- unpack and table.concat did not see items with the number 0 or less.
local t = {[-1] = "a", [0] = "b", "c", "d"}
print(unpack(t, -1, 1))
print(unpack(t, 0))
print(table.concat(t, " ", -1, 2))
--[[out
a	b	c
b	c	d
a b c d
]]
