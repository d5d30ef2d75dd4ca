require "std.yum_repo"

suite("yum_repo", {
  starts = { nothing = {}, other = { files = { ["/etc/yum.repos.d/x.repo"] = "[x]\nname=X\nbaseurl=http://a\nenabled=0\n" } } },
  wants = { signed = { "x", baseurl = "https://rpm.example.org", gpgkey = "file:///k.asc" }, absent = { "x", ensure = "absent" } },
  phrases = { ["nothing/signed"] = { "added the repository" }, ["other/signed"] = { "updated the repository" }, ["nothing/absent"] = {} },
})
