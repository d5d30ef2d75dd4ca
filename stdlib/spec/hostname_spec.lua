-- The contract of hostname for /etc/hostname.
require "std.hostname"

suite("hostname", {
  starts = {
    none = { files = { ["/etc/hosts"] = "" } },
    other = { files = { ["/etc/hostname"] = "# mine\nold\n" } },
    right = { files = { ["/etc/hostname"] = "web1.example.org\n" } },
  },
  wants = { name = { "web1.example.org" } },
  phrases = { ["none/name"] = { "set the host name" }, ["other/name"] = { "set the host name" }, ["right/name"] = {} },
})
