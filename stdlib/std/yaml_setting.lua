-- yaml_setting: keeps one value in a file of YAML.
--
--   std.yaml_setting { "global.scrape_interval", path = "/etc/prometheus/prometheus.yml", value = "30s" }
--   std.yaml_setting { "spec.replicas", path = "/srv/k8s.yaml", value = 3,
--                      document = { kind = "Deployment", ["metadata.name"] = "web" } }
--   std.yaml_setting { "ssh_pwauth", path = "/etc/cloud/cloud.cfg", ensure = "absent" }

return ccm.type(require("std.settings").type {
  name = "yaml_setting",
  doc = "Manages one value in a YAML file. A change of an anchor's value also changes its aliases.",
  path = "/etc/prometheus/prometheus.yml", key = "global.scrape_interval", library = yaml,
  document = { type = "any", doc = "Selects one of several documents: its number from 1, or values in it by key, such as { kind = \"Service\", [\"metadata.name\"] = \"web\" }. Required if the file has several." },
})
