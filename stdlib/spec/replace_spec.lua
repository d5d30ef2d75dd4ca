require "std.replace"

suite("replace", {
  starts = {
    old = { files = { ["/etc/x"] = "a = 1\nb = 1\n" } },
    new = { files = { ["/etc/x"] = "a = 8\n" } },
  },
  wants = {
    eight = { "/etc/x", match = [[^(a = )\d+$]], replacement = "${1}8" },
    grows = { "/etc/x", match = "a", replacement = "aa" },
  },
  phrases = { ["old/eight"] = { "replaced the text" }, ["new/eight"] = {} },
  fails = { ["old/grows"] = "would replace text again", ["new/grows"] = "would replace text again" },
})
