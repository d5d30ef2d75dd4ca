-- The contract of unit for its file. The integration tests have systemd too.
require "std.unit"

local text = "[Service]\nExecStart=/bin/app\n"

suite("unit", {
  starts = {
    none = {},
    right = { files = { ["/etc/systemd/system/app.service"] = text } },
    other = { files = { ["/etc/systemd/system/app.service"] = "[Service]\nExecStart=/bin/old\n" } },
  },
  wants = {
    file = { "app.service", content = text },
    dropin = { "limits", unit = "app.service", dropin = "limits", content = "[Service]\nLimitNOFILE=65536\n" },
    absent = { "app.service", ensure = "absent" },
  },
  phrases = {
    ["none/file"] = { "created the unit" }, ["right/file"] = {}, ["other/file"] = { "updated the unit" },
    ["right/dropin"] = { "created the unit" }, ["none/absent"] = {}, ["right/absent"] = { "removed the unit" },
  },
})
