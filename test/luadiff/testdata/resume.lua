-- A call of yield that takes more values than resume gives got invalid ones, and ccm failed where they were used. So it
-- did when the function of a coroutine returned what yield returns.
local co = coroutine.wrap(function()
  local a, b = coroutine.yield()
  print(a, b)
  print(1, coroutine.yield())
  local t = { coroutine.yield(), coroutine.yield() }
  print(#t, (coroutine.yield()))
  local function tail() return coroutine.yield("tail") end
  local c, d, e = tail()
  print(c, d, e)
  return tail()
end)
print(co(), co("a"), co(2, 3), co(4, 5), co(6, 7), co(8, 9), co("c"))
print(co("last", nil))
print(pcall(co))
local co = coroutine.create(function(...) return coroutine.yield(...) end)
print(coroutine.resume(co, 1, 2))
print(coroutine.status(co), coroutine.resume(co, nil, 4))
print(coroutine.status(co), coroutine.resume(co))
print((pcall(coroutine.create, print)), (pcall(coroutine.wrap, coroutine.yield)))
--[[out
a	nil
1	2	3
3	8
c	nil	nil
nil	nil	nil	nil	nil	tail	tail
last	nil
false	cannot resume dead coroutine
true	1	2
suspended	true	nil	4
dead	false	cannot resume dead coroutine
false	false
]]
