-- zypper_repo: keeps a repository of zypper, and reads its index.
--
--   std.zypper_repo { "example", baseurl = "https://rpm.example.org/leap", priority = 90 }

return ccm.type(require "std.rpm_repo" {
  name = "zypper_repo",
  doc = "Keeps a repository in /etc/zypp/repos.d, and has zypper read its index when it changes.",
  commands = { "zypper" },
  directory = "/etc/zypp/repos.d",
  cache = "/var/cache/zypp",
  properties = {
    autorefresh = { type = "boolean", default = true, doc = "Whether zypper reads the index again when it is used." },
  },
  -- Only this repository is read.
  read = function(name) return { "zypper", "--non-interactive", "refresh", "--repo", name } end,
})
