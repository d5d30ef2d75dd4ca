-- A yield inside of a metamethod, an iterator or a function of the host ended ccm.
local function try(f)
  local co = coroutine.create(f)
  local ok, e = coroutine.resume(co)
  print(ok, ok and e or type(e), coroutine.status(co))
end
try(function() return setmetatable({}, {__index = function() coroutine.yield() end}).x end)
try(function() return setmetatable({}, {__add = function() coroutine.yield() end}) + 1 end)
try(function() return setmetatable({}, {__concat = function() coroutine.yield() end}) .. "x" end)
try(function() return setmetatable({}, {__eq = function() coroutine.yield() end}) == setmetatable({}, {}) end)
try(function() setmetatable({}, {__newindex = function() coroutine.yield() end}).x = 1 end)
try(function() for _ in function() coroutine.yield() end do end end)
try(function() table.sort({1, 2, 3}, function(a, b) coroutine.yield() return a < b end) end)
try(function() return (("a"):gsub("a", function() coroutine.yield() end)) end)
try(function() pcall(coroutine.yield) return "caught" end)
try(function() coroutine.yield("plain") end)
try(function() local function deep(n) if n == 0 then coroutine.yield("deep") else deep(n - 1) return end end deep(50) end)
try(function() return coroutine.yield("tail") end)
try(setmetatable and function() local t = setmetatable({}, {__call = function() coroutine.yield("called") end}) t() end)
--[[out
false	string	dead
false	string	dead
false	string	dead
true	boolean	dead
false	string	dead
false	string	dead
false	string	dead
false	string	dead
true	caught	dead
true	plain	suspended
true	deep	suspended
true	tail	suspended
true	called	suspended
]]
