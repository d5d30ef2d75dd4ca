-- What the types promise that keep files and links. stdlib/*_test.go try more.
require "std.link"
require "std.cron"
require "std.sysctl"
require "std.apt_repo"

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
