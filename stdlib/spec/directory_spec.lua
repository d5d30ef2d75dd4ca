-- The contract of directory for modes and owners. TestDirectory also copies directories of the site.
require "std.directory"

suite("directory", {
  starts = {
    nothing = {},
    file = { files = { ["/srv/app"] = "text" } },
    tree = { files = { ["/srv/app/a"] = "", ["/srv/app/b/c"] = "" } },
  },
  wants = {
    empty = { "/srv/app", dir_mode = "0750" },
    all = { "/srv/app", mode = "u=rwX,go=", recurse = true },
    absent = { "/srv/app", ensure = "absent" },
  },
  phrases = {
    ["nothing/empty"] = { "created the directory" }, ["nothing/absent"] = {}, ["tree/empty"] = { "updated the attributes of 1 entry" },
    ["tree/all"] = { "updated the attributes of 4 entries" }, ["tree/absent"] = { "removed the directory" },
  },
  fails = {
    ["file/empty"] = "expected a directory, found a file", ["file/all"] = "expected a directory, found a file", ["file/absent"] = "expected a directory, found a file",
    ["tree/absent"] = "no record of a run that created /srv/app/a, /srv/app/b, 0 B",
  },
})
