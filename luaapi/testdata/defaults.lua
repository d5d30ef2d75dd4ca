file "/before" --= file#/before
file.defaults { owner = "root", mode = "0644" }
file.defaults { mode = "0600" }
file { "/a", owner = "me" } --= file#/a
file { "/b", contents = "x" } --= file#/b
package "vim" --= package#vim
---
-- Mistakes in defaults are found where they are, and only there.
file.defaults {
  onwer = "root", --> 3: file.defaults: unknown property "onwer" (did you mean "owner"?)
  mode = "rw", --> 10: file.defaults: mode: expected octal permissions such as "0644", got "rw"
  size = "x", --> 10: file.defaults: size: expected an integer, got "x"
  group = "root",
}
file "/a" --= file#/a
file "/b" --= file#/b
---
file.defaults { "/x" } --> 17: file.defaults: the name cannot have a default
file.defaults { path = "/x" } --> 17: file.defaults: the name cannot have a default
file.defaults "x" --> 1: file.defaults: expected a table of properties, got the string "x"
file.defaults() --> file.defaults: expected a table of properties, got nil
file.defaults({}, 1) --> file.defaults: expected a table of properties, got a table
file:defaults { owner = "x" } --> 1: expected file.defaults, got file:defaults (use file.defaults { ... })
---
-- A default that clashes is blamed where it stands.
file.defaults { source = "x" }
package.defaults { ensure = "latest" }
file { "/a", content = "x" } --> 24: file#/a: content: content and source exclude each other
exec.defaults { environment = { A = "1" }, require = "package#x" }
---
file.defaults { content = "x" } --> 27: file#/b: content: content and source exclude each other
file { "/b", source = "x" }
---
exec.defaults { data = { print } } --> 26: exec.defaults: data: a property cannot hold a function
exec "x" --= exec#x
---
-- ccm.defaults are for all types, tags are added.
ccm.defaults { tags = "web", tries = 2 }
package.defaults { tags = "packages" }
file { "/a", tags = "mine" } --= file#/a
package "x" --= package#x
print(#ccm.resources { tags = "web" }, #ccm.resources { tags = "packages" }, #ccm.resources { tags = "mine" }) --: 2	1	1
---
ccm.defaults { tag = "web" } --> 16: ccm.defaults: property "tag" does not exist in every type (did you mean "tags"?)
---
ccm.defaults { mode = "0644" } --> 16: ccm.defaults: property "mode" does not exist in every type
---
ccm.defaults { tags = "a b" } --> 23: ccm.defaults: tags: expected a tag of letters, digits and _ - . : / such as web, got "a b"
