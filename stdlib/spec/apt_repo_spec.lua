require "std.apt_repo"

suite("apt_repo", {
  starts = { nothing = {}, other = { files = { ["/etc/apt/sources.list.d/x.sources"] = "Types: deb\nURIs: http://a\nSuites: b\n" } } },
  wants = {
    signed = { "x", uris = "https://apt.example.org", suites = "stable", components = "main", key = "KEY\n" },
    absent = { "x", ensure = "absent" },
  },
  phrases = { ["nothing/signed"] = { "added the repository" }, ["other/signed"] = { "updated the repository" }, ["nothing/absent"] = {} },
})
