-- The contract of git without a call of git. TestGit and the integration tests have real clones.
require "std.git"

suite("git", {
  starts = {
    nothing = {},
    file = { files = { ["/srv/app"] = "text" } },
    other = { files = { ["/srv/app/x"] = "text" } },
  },
  wants = {
    clone = { "/srv/app", url = "https://git.example.org/app.git" },
    absent = { "/srv/app", ensure = "absent" },
  },
  phrases = { ["nothing/clone"] = { "cloned the repository" }, ["nothing/absent"] = {}, ["other/absent"] = { "removed the clone" } },
  fails = {
    ["file/clone"] = "expected a directory, found a file", ["other/clone"] = "found a directory with other content",
    ["other/absent"] = "no record of a run that created /srv/app/x, 4 B",
  },
})
