require "std.link"

suite("link", {
  starts = { nothing = {}, file = { files = { ["/l"] = "text" } } },
  wants = { link = { "/l", target = "x" }, absent = { "/l", ensure = "absent" } },
  phrases = { ["nothing/link"] = { "created the link" }, ["nothing/absent"] = {} },
  fails = { ["file/link"] = "which is not replaced", ["file/absent"] = "which is not replaced" },
})
