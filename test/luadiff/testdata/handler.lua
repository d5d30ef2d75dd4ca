-- A closure of a function that failed below xpcall read what lay in its registers later.
local read
xpcall(function() local a = "v" read = function() return a end error("x") end, function(e) return e end)
local x, y = 1, 2
print(read(), x, y)
pcall(function() local a = "w" read = function() a = a .. "!" return a end local b = a < 1 end)
local p, q = 3, 4
print(read(), read(), p, q)
--[[out
v	1	2
w!	w!!	3	4
]]
