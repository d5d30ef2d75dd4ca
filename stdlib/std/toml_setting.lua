-- toml_setting: keeps one value in a file of TOML.
--
--   std.toml_setting { "debug.level", path = "/etc/containerd/config.toml", value = "info" }
--   std.toml_setting { "concurrent", path = "/etc/gitlab-runner/config.toml", value = 4 }

return ccm.type(require("std.settings").type {
  name = "toml_setting",
  doc = "Manages one value in a TOML file. A table written on separate lines is not replaced by a value.",
  path = "/etc/containerd/config.toml", key = "debug.level", library = toml,
})
