-- json_setting: keeps one value in a file of JSON.
--
--   std.json_setting { "log-opts.max-size", path = "/etc/docker/daemon.json", value = "10m", create = true }
--   std.json_setting { "font", path = "/etc/editor.json", key = { "editor.fontSize" }, value = 14 }

return ccm.type(require("std.settings").type {
  name = "json_setting",
  doc = "Manages one value in a JSON file. Comments and trailing commas are allowed.",
  path = "/etc/docker/daemon.json", key = "log-opts.max-size", library = json,
})
