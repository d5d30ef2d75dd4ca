-- The contract of authorized_key. TestAuthorizedKey tries more.
require "std.authorized_key"

local key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFh"
local passwd, home, file = "alice:x:1000:1000::/home/alice:/bin/sh\n", "/home/alice/.profile", "/home/alice/.ssh/authorized_keys"

suite("authorized_key", {
  starts = {
    nobody = { files = { ["/etc/passwd"] = "root:x:0:0::/root:/bin/sh\n" } },
    alice = { files = { ["/etc/passwd"] = passwd, [home] = "" } },
    other = { files = { ["/etc/passwd"] = passwd, [file] = "# mine\nno-pty " .. key .. " old\nssh-rsa AAAA bob\n" } },
    homeless = { files = { ["/etc/passwd"] = passwd } },
  },
  wants = {
    key = { "alice", key = key .. " alice@laptop" },
    limited = { "alice", key = key, options = { "restrict", 'command="/bin/true"' } },
    absent = { "alice", key = key, ensure = "absent" },
  },
  phrases = {
    ["nobody/absent"] = {}, ["alice/key"] = { "added the key" }, ["alice/absent"] = {},
    ["other/limited"] = { "updated the key" }, ["other/absent"] = { "removed the key" }, ["homeless/absent"] = {},
  },
  fails = {
    ["nobody/key"] = 'no such user "alice" in /etc/passwd', ["nobody/limited"] = 'no such user "alice" in /etc/passwd',
    ["homeless/key"] = "expected a directory at /home/alice", ["homeless/limited"] = "expected a directory at /home/alice",
  },
})
