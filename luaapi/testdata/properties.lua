-- Every mistake is found, each at its place.
file { "/etc/motd",
  mdoe = "0644", --> 3: file#/etc/motd: unknown property "mdoe" (did you mean "mode"?)
  mode = 0644, --> 10: file#/etc/motd: mode: expected a string, got the number 644 (quote it: "644")
  force = "yes", --> 11: file#/etc/motd: force: expected true or false, got "yes"
  ensure = "presnet", --> 12: file#/etc/motd: ensure: expected one of present, absent, directory, got "presnet" (did you mean "present"?)
  content = { "a" }, --> 13: file#/etc/motd: content: expected a string, got a list
  contents = "x", --> 3: file#/etc/motd: duplicate contents (same as content)
  size = 1.5, --> 10: file#/etc/motd: size: expected an integer, got the number 1.5
  ["owner"] = true, --> 15: file#/etc/motd: owner: expected a string, got the boolean true
  group = nil,
}
---
file "/a" { content = "x", mode = "999" } --> 35: file#/a: mode: expected octal permissions such as "0644", got "999"
file "relative" { content = "x" } --> 6: file#relative: path: expected an absolute path, got "relative"
file { "relative" } --> 8: file#relative: path: expected an absolute path, got "relative"
file { path = "relative" } --> 15: file#relative: path: expected an absolute path, got "relative"
file { "/ok", "relative", content = "x" } --> 15: file#relative: path: expected an absolute path, got "relative" --= file#/ok
file("relative") --> 6: file#relative: path: expected an absolute path, got "relative"
---
-- Lists, maps and objects.
exec { "a", args = { "a", 1, "b" } } --> 27: exec#a: args[2]: expected a string, got the number 1 (quote it: "1")
exec { "b", args = { "a", nil, "b" } } --> 27: exec#b: args[2]: expected a string, got nothing
exec { "c", args = "one" } --= exec#c
exec { "d", args = {} } --= exec#d
exec { "e", environment = { A = "1", B = true } } --> 42: exec#e: environment.B: expected a string, got the boolean true
exec { "f", environment = { "A=1" } } --> 27: exec#f: environment: expected a table, got a list
exec { "g", environment = { A = "1", "B" } } --> 27: exec#g: environment: expected a table, got a table with names and positions
exec { "h", limits = { cup = 1 } } --> 24: exec#h: limits: unknown property "cup" (did you mean "cpu"?)
exec { "i", limits = { memory = "x" } } --> 33: exec#i: limits.memory: expected an integer, got "x"
exec { "j", limits = 5 } --> 22: exec#j: limits: expected a table, got the number 5
exec { "k", data = { 1, { a = { true, "x" } } } } --= exec#k
exec { "l", data = print } --> 20: exec#l: data: a property cannot hold a function
exec { "m", data = { a = { print } } } --> 28: exec#m: data: a property cannot hold a function
exec { "n", args = print } --> 20: exec#n: args: expected a list, got a function
exec { "o", [1.5] = "x" } --> 14: exec#o: unknown property "1.5"
exec { "p", [print] = "x" } --> exec#p: unknown property "function"
exec { "q", require = "nope" } --> 23: exec#q: require: expected a reference such as file#/etc/motd, got "nope"
exec { "r", require = { "file#/a", 5 } } --> 36: exec#r: require[2]: expected a string, got the number 5 (quote it: "5")
exec { "s", provider = "faek" } --> 24: exec#s: provider: expected one of fake, got "faek" (did you mean "fake"?)
package { "t", subscribe = "fil" } --> 28: package#t: subscribe: expected a reference such as file#/etc/motd, got "fil"
package { "u v" } --> 1: package#u v: a name has no spaces
exec { "w", health_checks = { { command = "x", tires = 2 } } } --> exec#w: health_checks[1]: unknown property "tires" (did you mean "tries"?)
---
-- A mistake in what several names share is told once.
package { "x", "y", "a b", "c d", ensrue = "latest" } --> 35: package#x: unknown property "ensrue" (did you mean "ensure"?)
package { "x", "y", "a b", "c d" } --> 1: package#a b: a name has no spaces --> 1: package#c d: a name has no spaces --= package#x package#y
package { "v", nil, "w" } --> 16: package: name 2 is nil --= package#v package#w
---
local t = {}
t.t = t
exec { "x", data = t } --> 20: exec#x: data: a property cannot hold a table that contains itself, or tables nested too deeply
---
-- Which of several calls in a line it was is known exactly.
file { "/a" } file { "/b", mdoe = 1 } file { "/c", mdoe = 1 } --> 28: file#/b: unknown property "mdoe" (did you mean "mode"?) --> 52: file#/c: unknown property "mdoe" (did you mean "mode"?)
return file { "/d", mdoe = 1 } --> 21: file#/d: unknown property "mdoe" (did you mean "mode"?)
---
-- A mistake that pcall catches is a mistake still.
local ok, h = pcall(file, { "/a", mdoe = "x" }) --> 35: file#/a: unknown property "mdoe" (did you mean "mode"?)
assert(ok and h.name == "/a")
pcall(function() file { "/b", mdoe = "x" } end) --> 31: file#/b: unknown property "mdoe" (did you mean "mode"?)
---
-- What is not written in the call has the place of what leads there.
local props = { "/a", mdoe = "x" }
file(props) --> 1: file#/a: unknown property "mdoe" (did you mean "mode"?)
local mode = "rw"
file { "/b", mode = mode } --> 21: file#/b: mode: expected octal permissions such as "0644", got "rw"
file { "/c", mode = "r" .. "w" } --> 21: file#/c: mode: expected octal permissions such as "0644", got "rw"
for _, name in ipairs { "d", "e" } do
  file { name, content = "x" } --> 10: file#d: path: expected an absolute path, got "d" --> 10: file#e: path: expected an absolute path, got "e"
end
