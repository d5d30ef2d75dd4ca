-- handle:set changes one resource, or all of a group.
local h = file { "/a", owner = "me", group = "me", mode = "0644" } --= file#/a
print(h:set { mode = "0600" } == h) --: true
local both = package { "x", "y" } --= package#x package#y
both:set { ensure = "absent" }
print(#ccm.resources { type = "package" }, #ccm.resources(), ccm.resources { name = "/*" }[1]) --: 2	3	file#/a
print(#ccm.resources { tags = "web" }, #ccm.resources { type = "file", tags = { "web", "db" } }) --: 0	0
---
-- What is wrong is said where it is set, with the declaration.
local h = file { "/a", owner = "me", group = "me", mode = "0644" }
h:set { mdoe = "0600" } --> 9: file#/a: unknown property "mdoe" (did you mean "mode"?)
h:set { mode = "rw" } --> 16: file#/a: mode: expected octal permissions such as "0644", got "rw"
h:set { path = "/b" } --> 9: file#/a: path: the name cannot be changed
h:set { content = ccm.lazy(function() end) } --> 9: file#/a: content: ccm.lazy applies only to declarations
---
local h = file { "/a", owner = "me", group = "me", mode = "0644", content = "x" } --> file#/a: content: content and source exclude each other
h:set { source = "x" }
---
-- One property has one other value.
local h = file { "/a", owner = "me", group = "me", mode = "0644" } --= file#/a
h:set { mode = "0600" }
h:set { mode = "0600", owner = "you" }
h:set { mode = "0640" } --> 9: file#/a: mode is already set to another value at testdata/override.lua:22:9
---
local h = file { "/a", owner = "me", group = "me", mode = "0644" }
h.set { mode = "0600" } --> 1: set called without a colon (use handle:set { ... })
---
local h = file { "/a", owner = "me", group = "me", mode = "0644" }
h:set "x" --> 1: set: expected a table of properties, got the string "x" (use handle:set { mode = "0600" })
---
ccm.resources { typ = "file" } --> 1: ccm.resources: expected type, name or tags, got "typ" (did you mean "type"?)
---
ccm.resources { type = "fiel" } --> 1: ccm.resources: unknown resource type "fiel" (did you mean "file"?)
---
ccm.resources { tags = 5 } --> 1: ccm.resources: tags: expected a string, got a number
---
print(ccm.resources { type = "file" }.mode) --> 7: ccm.resources: unknown field "mode" (the list of handles has the function set only)
---
-- A collection holds for what is declared later, and the first declaration may be repeated.
ccm.resources { type = "file", tags = "web" }:set { mode = "0600" }
file { "/a", owner = "me", group = "me", mode = "0644", tags = "web" } --= file#/a
file { "/a", owner = "me", group = "me", mode = "0644", tags = "web" }
---
ccm.resources { type = "file" }:set { mode = "0600" }
file { "/a", owner = "me", group = "me", mode = "0644" }
ccm.resources { type = "file" }:set { mode = "0640" } --> 39: file#/a: mode is already set to another value at testdata/override.lua:44:39
