-- table.sort compared what it kept behind the end of a list.
local t = {3, 1, 2}
t[#t] = nil
table.sort(t)
print(table.concat(t, " "), #t)
t = {3, 1, nil}
table.sort(t)
print(table.concat(t, " "))
--[[out
1 3	2
1 3
]]
