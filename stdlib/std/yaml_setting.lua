-- yaml_setting: keeps one value in a file of YAML.
--
--   std.yaml_setting { "global.scrape_interval", path = "/etc/prometheus/prometheus.yml", value = "30s" }
--   std.yaml_setting { "spec.replicas", path = "/srv/k8s.yaml", value = 3,
--                      document = { kind = "Deployment", ["metadata.name"] = "web" } }
--   std.yaml_setting { "ssh_pwauth", path = "/etc/cloud/cloud.cfg", ensure = "absent" }

return ccm.type(require("std.settings").type {
  name = "yaml_setting",
  doc = "Keeps one value in a file of YAML. The value of an anchor changes for all its aliases too.",
  path = "/etc/prometheus/prometheus.yml", key = "global.scrape_interval", library = yaml,
  document = { type = "any", doc = "Which document of several: its number from 1, or values that are in it, by their keys, such as { kind = \"Service\", [\"metadata.name\"] = \"web\" }. It is required if the file has several." },
})
