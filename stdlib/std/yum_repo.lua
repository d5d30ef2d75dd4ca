-- yum_repo: keeps a repository of dnf or yum, and reads its index.
--
--   std.yum_repo { "example", baseurl = "https://rpm.example.org/el9", gpgkey = "file:///etc/pki/rpm-gpg/example.asc" }

return ccm.type(require "std.rpm_repo" {
  name = "yum_repo",
  doc = "Manages a repository in /etc/yum.repos.d, and refreshes the dnf metadata after changes.",
  commands = { "dnf" },
  directory = "/etc/yum.repos.d",
  touched = {
    "/var/cache/dnf", "/var/cache/libdnf5",
    "/var/log/dnf.log", "/var/log/dnf.librepo.log", "/var/log/dnf.rpm.log", "/var/log/dnf5.log", "/var/log/hawkey.log",
  },
  properties = {
    exclude = { type = "list", one_line = true, doc = "Patterns of packages to exclude." },
    metadata_expire = { one_line = true, doc = "The time after which dnf refreshes the metadata, such as 6h." },
  },
  -- Only this repository is read.
  read = function(name) return { "dnf", "-q", "makecache", "--refresh", "--disablerepo=*", "--enablerepo=" .. name } end,
})
