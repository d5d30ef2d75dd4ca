-- In local f = function the new variable was seen.
local print = function(...) return print("wrapped", ...) end
print(1)
local x = 5
do
  local x = function() return x end
  print(x())
end
local function fact(n) if n == 0 then return 1 end return n * fact(n - 1) end
print(fact(5))
local type = function(v) return "my " .. type(v) end
print(type(1))
--[[out
wrapped	1
wrapped	5
wrapped	120
wrapped	my number
]]
