-- The contract of language_package with the output of npm and gem. TestLanguagePackage has all three.
require "std.language_package"

local function gem(version) return { commands = { ["gem list --local --exact rake"] = version and "rake (" .. version .. ")\n" or "" } } end

suite("language_package", {
  starts = { none = gem(), old = gem "13.0.6", both = gem "13.1.0, default: 13.0.6" },
  wants = {
    rake = { "rake", manager = "gem" },
    version = { "rake", manager = "gem", version = "13.0.6" },
    absent = { "rake", manager = "gem", ensure = "absent" },
  },
  phrases = {
    ["none/rake"] = { "installed the package" }, ["old/rake"] = {}, ["old/version"] = {}, ["both/version"] = {},
    ["none/absent"] = {}, ["old/absent"] = { "removed the package" },
  },
})
