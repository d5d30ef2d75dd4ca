file { "/etc/motd", content = "hi\n", owner = "root", group = "root", mode = "0644" } --= file#/etc/motd
file "/etc/a" { content = "a" } --= file#/etc/a
file("/etc/b", { content = "b" }) --= file#/etc/b
file "/etc/c" --= file#/etc/c
file { path = "/etc/d" } --= file#/etc/d
package { "vim", "htop", ensure = "latest" } --= package#vim package#htop
package "nano" --= package#nano
package { "jq" } --= package#jq
package({ "tar", "gzip" }, { ensure = "latest" }) --= package#tar package#gzip
package { "bzip2", "xz" } { ensure = "latest" } --= package#bzip2 package#xz
local conf = file { "/etc/e" } --= file#/etc/e
exec { "reload", command = "true", refreshonly = true, subscribe = { conf, "file#/etc/a" } } --= exec#reload
exec { "x", require = conf } ; file { "/y", notify = "exec#x" } ; file { "/z", before = conf } --= exec#x file#/y file#/z
local f, p = file, package
f "/etc/f" { content = "f" } --= file#/etc/f
p "sed"; --= package#sed
(file) { "/etc/g" } --= file#/etc/g
file --= file#/etc/h
  "/etc/h"
  {
    content = "h",
  }
package "one" package "two" { ensure = "latest" } package "three" --= package#one package#two package#three
---
-- One handle stands for all names; several variables get one each.
local all = package { "x", "y", ensure = "latest" } --= package#x package#y
assert(#all == 2 and all[1].name == "x" and all[2].id == "package#y" and all[3] == nil and tostring(all) == "package#x, package#y")
exec { "a", require = all, before = { "file#/x", all }, command = "true" } --= exec#a
local function declare() return package { "x", "y", ensure = "latest" } end
assert(declare() == all and select("#", declare()) == 1 and all ~= all[1] and all .. "!" == "package#x, package#y!")
---
-- A list among the names stands for the names in it.
local names = { "x", "y" }
local all = package { names, "z", ensure = "latest" } --= package#x package#y package#z
assert(#all == 3)
package { names } { ensure = "latest" }
package { {} }
---
-- Lua keeps one value of what is not last.
local names = { "x", "y" }
package { unpack(names), ensure = "latest" } --> 11: package: only the first of these names is used, because the list is not last (pass the list itself: package { names, ensure = ... })
local function f(...)
  package { "q", ..., ensure = "latest" } --> package: only the first of these names is used, because the list is not last (pass the list itself: package { { ... }, ensure = ... })
end
f("a", "b")
package { (unpack(names)), ensure = "latest" }
package { ensure = "latest", unpack(names) }
---
-- Several variables get the handles in the order of the names.
local a, b, c = package { "x", "y", ensure = "latest" }
assert(a.name == "x" and b.name == "y" and c == nil)
local d, e = package { "v", "w" } { ensure = "latest" }
assert(d.id == "package#v" and e.id == "package#w")
assert(select("#", package "z") == 1)
---
-- A call with a name declares at once unless its result is called.
local vim = package "vim" --= package#vim
for _, name in ipairs { "a", "b" } do
  package(name) --= package#a package#b
end
local list = { package "c", package "d" } --= package#c package#d
assert(#list == 2)
pcall(package, "e") --= package#e
file "/f" { require = package "f" } --= package#f file#/f
file "/g" { require = { package "g", file "/h" { content = "x" } } } --= package#g file#/h file#/g
---
-- Handles can be used as references, alone and in lists, and mixed with text.
local a, b = package { "a", "b" }
exec { "x", require = a, before = { b, "file#/x" }, subscribe = { a, b } }
---
-- A table can come from anywhere.
local props = { "/a", content = "x" }
file(props) --= file#/a
local function with(name, t)
  t[1] = name
  return file(t) --= file#/b
end
with("/b", { content = "x" })
file("/c", props) --> file: expected only properties after the name, got also the string "/a" --= file#/c
---
-- The same twice is the same.
local a = file { "/a", content = "x" } --= file#/a
local b = file { "/a", content = "x" }
assert(a == b)
file { "/a", content = "y" } --> 1: file#/a: is already declared at testdata/constructors.lua:82
---
-- What cannot be a declaration.
file() --> 1: file: expected a name or a table of properties, got nil
file(nil) --> 1: file: expected a name or a table of properties, got nil
file(5) --> 1: file: expected a name or a table of properties, got a number
file(print) --> file: expected a name or a table of properties, got a function
file(package "x") --> file: expected a name or a table of properties, got package#x
file("/a", "x") --> file: expected a table of properties after the name, got the string "x"
file("/a", {}, 1) --> file: expected a table of properties after the name, got a table
file "/b" "x" --> expected a table of properties after file "/b", got the string "x"
local h = file "/c"
h { content = "x" } --> 1: file#/c is already declared (write the properties directly after the name: file "/c" { ... })
file { content = "x" } --> 1: file: path is required
file { nil, content = "x" } --> 1: file: path is required
file { "/d", false } --> 14: file: path: expected a string, got the boolean false
file { { { "/e" } } } --> 8: file: path: expected a string, got a list
file { "/f", path = "/g" } --> 14: file#/f: duplicate path
file.default { owner = "x" } --> 1: file: unknown name "default" (did you mean "defaults"?)
---
file.x = 1 --> 1: file.x is read-only (copy the table and change the copy)
---
-- package stays what it is in Lua.
assert(type(package.path) == "string" and package.loaded.string == string)
package.preload.made = function(name) return { name = name } end
assert(require("made").name == "made")
package.path = package.path .. ";x/?.lua"
package "vim" --= package#vim
