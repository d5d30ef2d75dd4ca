require "std.package_key"

suite("package_key", {
  starts = { nothing = {}, other = { files = { ["/etc/apt/keyrings/x.asc"] = "OLD\n" } } },
  wants = {
    key = { "x", store = "apt", key = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nAAAA\n" },
    absent = { "x", store = "apt", ensure = "absent" },
  },
  phrases = { ["nothing/key"] = { "added the key" }, ["other/key"] = { "updated the key" }, ["nothing/absent"] = {} },
})
