require "std.block"

suite("block", {
  starts = {
    empty = { files = { ["/etc/x"] = "" } },
    other = { files = { ["/etc/x"] = "a\n# BEGIN ccm b\nold\n# END ccm b\nz\n" } },
    broken = { files = { ["/etc/x"] = "# END ccm b\n" } },
  },
  wants = {
    block = { "b", path = "/etc/x", content = "one\ntwo\n" },
    absent = { "b", path = "/etc/x", ensure = "absent" },
  },
  phrases = { ["empty/block"] = { "added the block" }, ["other/block"] = { "updated the block" }, ["empty/absent"] = {} },
  fails = { ["broken/block"] = "a marker of the block b is missing", ["broken/absent"] = "a marker of the block b is missing" },
})
