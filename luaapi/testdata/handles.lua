local h = file "/etc/motd"
print(h, h.type, h.name, h.id) --: file#/etc/motd	file	/etc/motd	file#/etc/motd
print(tostring(h), "id " .. h, h .. "!", ("%s"):format(h)) --: file#/etc/motd	id file#/etc/motd	file#/etc/motd!	file#/etc/motd
print(type(h), h == h, h == file "/etc/motd", h == file "/b", h ~= file "/b", h == "file#/etc/motd") --: userdata	true	true	false	true	false
print(file, package == package) --: constructor file	true
print(getmetatable(h)) --: false
---
local h = file "/a"
print(h.nme) --> 7: file#/a: unknown field "nme" (did you mean "name"?)
---
local h = file "/a"
print(h.content) --> 7: file#/a: unknown field "content" (fields of a handle: type, name, id, set, and after the resource was applied: changed, failed, outcome)
---
local h = file "/a"
h.content = "x" --> 1: file#/a cannot be changed by assignment (use handle:set { content = ... })
---
-- The handle of a declaration with mistakes can be used like any other.
local h = file { "/a", mdoe = "0644" } --> 24: file#/a: unknown property "mdoe" (did you mean "mode"?)
exec { "x", require = h } --= exec#x
print(h.name, h) --: /a	file#/a
local none = file { content = "x" } --> file: path is required
exec { "y", require = none } --= exec#y
