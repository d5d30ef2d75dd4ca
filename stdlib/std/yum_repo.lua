-- yum_repo: keeps a repository of dnf or yum, and reads its index.
--
--   std.yum_repo { "example", baseurl = "https://rpm.example.org/el9", gpgkey = "file:///etc/pki/rpm-gpg/example.asc" }

return ccm.type(require "std.rpm_repo" {
  name = "yum_repo",
  doc = "Keeps a repository in /etc/yum.repos.d, and has dnf read its index when it changes.",
  commands = { "dnf" },
  directory = "/etc/yum.repos.d",
  cache = "/var/cache/dnf",
  properties = {
    exclude = { type = "list", one_line = true, doc = "Patterns of packages that do not come from it." },
    metadata_expire = { one_line = true, doc = "After what time dnf reads the index again, such as 6h." },
  },
  -- Only this repository is read.
  read = function(name) return { "dnf", "-q", "makecache", "--refresh", "--disablerepo=*", "--enablerepo=" .. name } end,
})
