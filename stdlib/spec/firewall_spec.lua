-- The contract of firewall on a machine that is only a directory, where nft is not used. The integration tests have a
-- kernel too.
require "std.firewall"

local file, include = "/etc/nftables.d/ccm-web.nft", 'include "/etc/nftables.d/ccm-*.nft"\n'

suite("firewall", {
  starts = {
    nothing = {},
    installed = { files = { ["/etc/nftables.conf"] = "flush ruleset\n" } },
    ["of Red Hat"] = { files = { ["/etc/sysconfig/nftables.conf"] = "# mine\n" } },
    other = { files = { ["/etc/nftables.conf"] = include, [file] = "# mine\n" } },
  },
  wants = {
    rules = { "web", rules = "chain input { type filter hook input priority filter; policy drop; }" },
    absent = { "web", ensure = "absent" },
  },
  phrases = {
    ["nothing/absent"] = {}, ["installed/rules"] = { "loaded the rules" }, ["of Red Hat/rules"] = { "loaded the rules" },
    ["other/rules"] = { "replaced the rules" }, ["other/absent"] = { "removed the rules" },
  },
  fails = { ["nothing/rules"] = "/etc/nftables.conf does not exist (install the package nftables)" },
})
