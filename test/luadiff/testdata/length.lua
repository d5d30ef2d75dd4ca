-- The operand of # was evaluated twice.
local n = 0
local t = setmetatable({}, {__index = function() n = n + 1 return "abc" end})
print(#t.x, n)
local list = {items = {1, 2, 3}}
print(#list.items, #list["items"], #(list.items))
--[[out
3	1
3	3	3
]]
