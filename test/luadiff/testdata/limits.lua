-- A function may have 150 local variables, and call others with many arguments.
local names, values = {}, {}
for i = 1, 150 do names[i], values[i] = "v" .. i, tostring(i) end
local f = loadstring("local " .. table.concat(names, ", ") .. " = " .. table.concat(values, ", ") .. " return v1 + v150, select('#', " .. table.concat(values, ", ", 1, 40) .. ")")
print(f())
--[[out
151	40
]]
