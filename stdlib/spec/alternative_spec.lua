-- The contract of alternative. TestAlternative also has update-alternatives.
require "std.alternative"

local editor = "auto\n/usr/bin/editor\n\n/bin/nano\n40\n/usr/bin/vim.tiny\n15\n\n"

suite("alternative", {
  starts = {
    none = { files = { ["/usr/bin/vim.tiny"] = "" } },
    auto = { files = { ["/var/lib/dpkg/alternatives/editor"] = editor, ["/bin/nano"] = "", ["/usr/bin/vim.tiny"] = "" } },
    ["of Red Hat"] = { files = { ["/var/lib/alternatives/editor"] = editor, ["/bin/nano"] = "", ["/usr/bin/vim.tiny"] = "" } },
  },
  wants = {
    vim = { "editor", path = "/usr/bin/vim.tiny" },
    made = { "editor", path = "/usr/bin/vim.tiny", link = "/usr/bin/editor", priority = 15 },
    auto = { "editor", ensure = "auto" },
    unknown = { "editor", path = "/usr/bin/emacs" },
    absent = { "editor", path = "/usr/bin/vim.tiny", ensure = "absent" },
  },
  phrases = {
    ["none/made"] = { "added the alternative" }, ["none/absent"] = {}, ["auto/vim"] = { "set the alternative" },
    ["auto/auto"] = {}, ["of Red Hat/auto"] = {}, ["auto/absent"] = { "removed the alternative" },
  },
  fails = {
    ["none/vim"] = "no such alternatives: editor", ["none/auto"] = "no such alternatives: editor",
    ["none/unknown"] = "no such alternatives: editor", ["auto/unknown"] = "is not one of the alternatives",
    ["of Red Hat/unknown"] = "is not one of the alternatives",
  },
})
