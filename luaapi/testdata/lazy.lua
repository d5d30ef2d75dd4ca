-- What is known later can be given to any property of a type, also inside of a
-- list or table.
local made = exec "make" --= exec#make
file { "/a", content = ccm.lazy(function() return made.stdout end) } --= file#/a
exec { "b", args = { "A=1", ccm.lazy(function() return "B=" .. made.exit_code end) } } --= exec#b
file.defaults { content = ccm.lazy(function() return "c" end) }
file { "/c", "/d" } --= file#/c file#/d
print(ccm.lazy(function() end)) --: (known after run)
ccm.after(made, function() print("not now") end)
---
-- The rest of such a declaration is checked at once.
file { "/a", content = ccm.lazy(function() end), mdoe = "0644" } --> 50: file#/a: unknown property "mdoe" (did you mean "mode"?)
file { "/b", content = ccm.lazy(function() end), mode = "rw" } --> file#/b: mode: expected octal permissions such as "0644", got "rw"
file { "c", content = ccm.lazy(function() end) } --> 8: file#c: path: expected an absolute path, got "c"
file { ccm.lazy(function() end) } --> file: path: expected a string, got a value that is known later
file { path = ccm.lazy(function() end) } --> 15: file: path: cannot be known later: it names the resource
file { "/d", require = ccm.lazy(function() end) } --> file#/d: require: cannot be known later: common properties must be known before the run
file { "/e", content = ccm.lazy(function() end) } --= file#/e
file { "/e", content = ccm.lazy(function() end) } --> file#/e: is already declared at testdata/lazy.lua:18
---
local made = exec "make"
print(made.stdout) --> 7: exec#make.stdout is used too early: the value is known only after the resource was applied (use it inside ccm.lazy(function() ... end) or ccm.after(handle, function() ... end))
---
local f = file "/a"
if f.changed then print "x" end --> file#/a.changed is used too early: the value is known only after the resource was applied (use it inside ccm.lazy(function() ... end) or ccm.after(handle, function() ... end))
---
local f = file "/a"
print(f.stdout) --> file#/a: unknown field "stdout" (only resources that run a command have this field)
---
file { "/a", content = "x" .. ccm.lazy(function() return "y" end) } --> a value of ccm.lazy is unknown until its resource is applied (use the value inside the function of ccm.lazy)
---
ccm.lazy("x") --> ccm.lazy: expected a function, got the string "x" (use ccm.lazy(function() return ... end))
---
ccm.after("x", print) --> ccm.after: expected a resource handle, got the string "x" (use ccm.after(handle, function() ... end))
---
ccm.after(file "/a", "x") --> ccm.after: expected a function after the handle, got the string "x" (use ccm.after(handle, function() ... end))
