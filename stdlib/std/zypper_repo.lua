-- zypper_repo: keeps a repository of zypper, and reads its index.
--
--   std.zypper_repo { "example", baseurl = "https://rpm.example.org/leap", priority = 90 }

return ccm.type(require "std.rpm_repo" {
  name = "zypper_repo",
  doc = "Manages a repository in /etc/zypp/repos.d, and refreshes the zypper metadata after changes.",
  commands = { "zypper" },
  directory = "/etc/zypp/repos.d",
  touched = { "/var/cache/zypp", "/var/log/zypper.log", "/run/zypp.pid" },
  properties = {
    autorefresh = { type = "boolean", default = true, doc = "Whether zypper refreshes the metadata when the repository is used." },
  },
  -- Only this repository is read.
  read = function(name) return { "zypper", "--non-interactive", "refresh", "--repo", name } end,
})
