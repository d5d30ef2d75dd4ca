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
  mode = "rw", --> 10: file.defaults: mode: want octal permissions such as "0644", got "rw"
  size = "x", --> 10: file.defaults: size: want an integer, got "x"
  group = "root",
}
file "/a" --= file#/a
file "/b" --= file#/b
---
file.defaults { "/x" } --> 17: file.defaults: a name cannot be a default
file.defaults { path = "/x" } --> 17: file.defaults: a name cannot be a default
file.defaults "x" --> 1: file.defaults: want a table of properties, got the string "x"
file.defaults() --> file.defaults: want a table of properties, got nil
file.defaults({}, 1) --> file.defaults: want a table of properties, got a table
file:defaults { owner = "x" } --> 1: file.defaults is called with a colon (write file.defaults { ... })
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
