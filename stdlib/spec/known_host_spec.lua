-- The contract of known_host. TestKnownHost tries more.
require "std.known_host"

local key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJi"
local old = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFh"
local file = "/etc/ssh/ssh_known_hosts"

suite("known_host", {
  starts = {
    nothing = { files = { ["/etc/ssh/ssh_config"] = "" } },
    right = { files = { [file] = "# mine\ngit.example.org " .. key .. "\n" } },
    old = { files = { [file] = "git.example.org,192.0.2.1 " .. old .. "\n@revoked git.example.org " .. old .. "\n" } },
    ["no ssh"] = { files = { ["/etc/hosts"] = "" } },
  },
  wants = {
    host = { "git.example.org", key = key },
    port = { "[git.example.org]:2222", key = key },
    absent = { "git.example.org", ensure = "absent" },
  },
  phrases = {
    ["nothing/host"] = { "added the host" }, ["right/host"] = {}, ["old/host"] = { "changed the key of the host" },
    ["old/port"] = { "added the host" }, ["old/absent"] = { "removed the host" }, ["no ssh/absent"] = {},
  },
  fails = { ["no ssh/host"] = "expected a directory at /etc/ssh", ["no ssh/port"] = "expected a directory at /etc/ssh" },
})
