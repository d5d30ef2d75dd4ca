print(facts.os.family, facts.os.release.major, facts.load, facts.net.dns[1]) --: debian	12	0.25	192.0.2.1
print(#facts.net.dns, facts.net.dns[3], facts.os.variant, type(facts), type(facts.net.dns)) --: 2	nil	nil	table	table
for k, v in pairs(facts) do print(k, type(v)) end --: load	number --: net	table --: os	table
for k, v in pairs(facts.os.release) do print(k, v) end --: full	12.4 --: major	12
for i, v in ipairs(facts.net.dns) do print(i, v) end --: 1	192.0.2.1 --: 2	192.0.2.2
for i, nic in ipairs(facts.net.interfaces) do print(nic.name, nic.up) end --: lo	true --: eth0	false
print(next(facts.os.release), next(facts), next(facts, "net"), next(facts, "os")) --: full	load	os	nil
print(table.concat(facts.net.dns, " "), unpack(facts.net.dns)) --: 192.0.2.1 192.0.2.2	192.0.2.1	192.0.2.2
print(table.unpack(facts.net.dns)) --: 192.0.2.1	192.0.2.2
print(rawget(facts.os, "family"), facts.os == facts.os, facts.net.dns ~= facts.net.interfaces) --: debian	true	true
print(fact("os.family"), fact("os.release.major", 5), fact("cloud.region", "none"), fact("cloud.region")) --: debian	12	none	nil
print(fact("os.variant", "none"), fact("net.dns")[2]) --: none	192.0.2.2
---
-- They can be used as properties.
exec { "x", args = facts.net.dns, environment = facts.os.release } --> 49: exec#x: environment.major: expected a string, got the number 12 (quote it: "12")
exec { "y", args = facts.net.dns, data = facts.os } --= exec#y
---
print(facts.os.famly) --> 7: no fact "famly" in facts.os (did you mean "family"?)
---
print(facts.so.family) --> 7: no fact "so" in facts (did you mean "os"?)
---
print(facts.gpu) --> 7: no fact "gpu" in facts (fact("gpu") returns nil if it does not exist)
---
print(facts.net.dns.first) --> 7: no fact "first" in facts.net.dns (fact("net.dns.first") returns nil if it does not exist)
---
facts.os.family = "x" --> 1: facts.os.family is read-only (copy the table and change the copy)
---
facts.mine = 1 --> 1: facts.mine is read-only (copy the table and change the copy)
---
facts.net.dns[1] = "x" --> 1: facts.net.dns[1] is read-only (copy the table and change the copy)
---
rawset(facts.os, "family", "x") --> 1: facts.os is read-only (copy the table and change the copy)
---
table.insert(facts.net.dns, "x") --> 1: facts.net.dns is read-only (copy the table and change the copy)
---
table.remove(facts.net.dns) --> 1: facts.net.dns is read-only (copy the table and change the copy)
---
table.sort(facts.net.dns) --> 1: facts.net.dns is read-only (copy the table and change the copy)
---
setmetatable(facts.os, {}) --> 1: the metatable of the table is protected
---
-- A text has no fields, though Lua would look for them in the library string.
print(facts.os.family:upper(), facts.os.family.len("abc")) --: DEBIAN	3
print(facts.os.family.name) --> 7: no fact "os.family.name": os.family is a text
---
print(fact("os.family.name", "x"), facts.os.release.full.major) --> 36: no fact "os.release.full.major": os.release.full is a text
---
local facts = { os = { family = "debian" } }
print(facts.os.family.name) --: nil
