-- yaml_setting: keeps one value in a file of YAML.
--
--   local yaml_setting = require "std.yaml_setting"
--   yaml_setting { "global.scrape_interval", path = "/etc/prometheus/prometheus.yml", value = "30s" }
--   yaml_setting { "ssh_pwauth", path = "/etc/cloud/cloud.cfg", ensure = "absent" }

return ccm.type(require("std.settings").type {
  name = "yaml_setting",
  doc = "Keeps one value in a file of YAML, which has one document. The value of an anchor changes for all its aliases too.",
  path = "/etc/prometheus/prometheus.yml", key = "global.scrape_interval", library = yaml,
})
