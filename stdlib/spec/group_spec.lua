-- The contract of group. TestGroup also has groupadd and the other commands.
require "std.group"

local passwd = "alice:x:1000:1000::/home/alice:/bin/sh\nbob:x:1001:1001::/home/bob:/bin/sh\n"
local function with(line) return { files = { ["/etc/passwd"] = passwd, ["/etc/group"] = "alice:x:1000:\nbob:x:1001:\n" .. line } } end

suite("group", {
  starts = { none = with "", other = with "deploy:x:990:bob\n", right = with "deploy:x:990:alice\n" },
  wants = {
    group = { "deploy" },
    members = { "deploy", members = { "alice" } },
    exact = { "deploy", members = { "alice" }, membership = "exact" },
    unknown = { "deploy", members = { "carol" } },
    own = { "alice", ensure = "absent" },
    absent = { "deploy", ensure = "absent" },
  },
  phrases = {
    ["none/group"] = { "created the group" }, ["other/group"] = {}, ["right/members"] = {}, ["right/exact"] = {},
    ["other/members"] = { "updated the group" }, ["none/absent"] = {}, ["right/absent"] = { "removed the group" },
  },
  fails = {
    ["none/unknown"] = 'no such user "carol" in /etc/passwd', ["other/unknown"] = 'no such user "carol" in /etc/passwd', ["right/unknown"] = 'no such user "carol" in /etc/passwd',
    ["none/own"] = "is the primary group of the user alice and cannot be removed", ["other/own"] = "is the primary group of the user alice", ["right/own"] = "is the primary group of the user alice",
  },
})
