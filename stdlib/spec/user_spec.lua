-- The contract of user. TestUser also has useradd and the other commands.
require "std.user"

local function with(passwd) return { files = { ["/etc/passwd"] = passwd, ["/etc/group"] = "deploy:x:1000:\nwww-data:x:33:\n" } } end

suite("user", {
  starts = { none = with "", there = with "deploy:x:1000:1000:Deploys:/home/deploy:/bin/sh\n" },
  wants = {
    user = { "deploy" },
    shell = { "deploy", shell = "/bin/bash", groups = { "www-data" } },
    unknown = { "deploy", groups = { "nogroup-here" } },
    absent = { "deploy", ensure = "absent" },
  },
  phrases = {
    ["none/user"] = { "created the user" }, ["there/user"] = {}, ["there/shell"] = { "updated the user" },
    ["none/absent"] = {}, ["there/absent"] = { "removed the user" },
  },
  fails = { ["none/unknown"] = 'no such group "nogroup-here"', ["there/unknown"] = 'no such group "nogroup-here"' },
})
