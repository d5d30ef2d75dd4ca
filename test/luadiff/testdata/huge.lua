-- math.huge was the largest finite number.
print(math.huge == 1/0, 1/0 > math.huge, -math.huge == -1/0, math.huge - math.huge ~= 0)
--[[out
true	false	true	true
]]
