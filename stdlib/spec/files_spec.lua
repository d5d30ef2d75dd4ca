-- What the types promise that keep files and links. stdlib/*_test.go try more.
require "std.link"
require "std.cron"
require "std.sysctl"
require "std.apt_repo"
require "std.yum_repo"
require "std.zypper_repo"
require "std.package_key"

suite("link", {
  starts = { nothing = {}, file = { files = { ["/l"] = "text" } } },
  wants = { link = { "/l", target = "x" }, absent = { "/l", ensure = "absent" } },
  phrases = { ["nothing/link"] = { "created the link" }, ["nothing/absent"] = {} },
  fails = { ["file/link"] = "which is not replaced", ["file/absent"] = "which is not replaced" },
})

suite("cron", {
  starts = { nothing = {}, other = { files = { ["/etc/cron.d/b"] = "@daily root true\n" } } },
  wants = {
    job = { "b", command = "true", schedule = "30 3 * * *" },
    absent = { "b", ensure = "absent" },
  },
  phrases = { ["nothing/job"] = { "created the cron job" }, ["other/job"] = { "updated the cron job" }, ["nothing/absent"] = {} },
})

suite("sysctl", {
  starts = { nothing = {}, other = { files = { ["/etc/sysctl.d/60-ccm.conf"] = "vm.swappiness=60\n" } } },
  wants = { ten = { "vm.swappiness", value = "10" }, absent = { "vm.swappiness", ensure = "absent" } },
  phrases = { ["other/ten"] = { "changed the kernel setting" }, ["nothing/absent"] = {} },
})

suite("apt_repo", {
  starts = { nothing = {}, other = { files = { ["/etc/apt/sources.list.d/x.sources"] = "Types: deb\nURIs: http://a\nSuites: b\n" } } },
  wants = {
    signed = { "x", uris = "https://apt.example.org", suites = "stable", components = "main", key = "KEY\n" },
    absent = { "x", ensure = "absent" },
  },
  phrases = { ["nothing/signed"] = { "added the repository" }, ["other/signed"] = { "updated the repository" }, ["nothing/absent"] = {} },
})

for name, directory in pairs { yum_repo = "/etc/yum.repos.d/", zypper_repo = "/etc/zypp/repos.d/" } do
  suite(name, {
    starts = { nothing = {}, other = { files = { [directory .. "x.repo"] = "[x]\nname=X\nbaseurl=http://a\nenabled=0\n" } } },
    wants = { signed = { "x", baseurl = "https://rpm.example.org", gpgkey = "file:///k.asc" }, absent = { "x", ensure = "absent" } },
    phrases = { ["nothing/signed"] = { "added the repository" }, ["other/signed"] = { "updated the repository" }, ["nothing/absent"] = {} },
  })
end

suite("package_key", {
  starts = { nothing = {}, other = { files = { ["/etc/apt/keyrings/x.asc"] = "OLD\n" } } },
  wants = {
    key = { "x", store = "apt", key = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nAAAA\n" },
    absent = { "x", store = "apt", ensure = "absent" },
  },
  phrases = { ["nothing/key"] = { "added the key" }, ["other/key"] = { "updated the key" }, ["nothing/absent"] = {} },
})
