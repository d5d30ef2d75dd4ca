-- Behind a caught error closures and the functions around them had different variables.
local errors = 0
local function note() errors = errors + 1 end
for _, v in ipairs {"a", "b", "c"} do
  if not pcall(error, v) then note() end
end
pcall(function() local x = {} + 1 end) note()
coroutine.resume(coroutine.create(function() error("x") end)) note()
print(errors)
local function counter()
  local n = 0
  local function add() n = n + 1 end
  for _ = 1, 5 do pcall(function() add() error("x") end) add() end
  return n
end
print(counter())
--[[out
5
10
]]
