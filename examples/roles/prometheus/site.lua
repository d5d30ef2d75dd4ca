-- Prometheus with the exporters of the machine and of probes, on Debian and Ubuntu from the distribution,
-- on RHEL and its relatives from the repository prometheus-rpm. The settings are in site.yaml. A mistake
-- in the configuration or the rules leaves them as they were.
local want = data.load("site.yaml")
local debian = facts.os.family == "debian"
file.defaults { owner = "root", group = "root", mode = "0644" }

local names = debian and { prometheus = "prometheus", node = "prometheus-node-exporter", blackbox = "prometheus-blackbox-exporter" }
  or { prometheus = "prometheus2", node = "node_exporter", blackbox = "blackbox_exporter" }
if not debian then
  require "std.yum_repo" {
    "prometheus-rpm",
    baseurl = want.rpm_repository.url .. "/el/" .. facts.os.release_major .. "/$basearch",
    gpgkey = want.rpm_repository.gpgkey,
    before = { "package#" .. names.prometheus, "package#" .. names.node },
  }
end

if want.node_exporter then
  package { names.node }
  service { names.node, enable = true, require = "package#" .. names.node }
end
if want.server then
  local package_list = { names.prometheus, #want.probes > 0 and names.blackbox or nil }
  local prometheus = package { package_list }
  local scrapes = tbl.map(want.jobs, function(job)
    return { job_name = job.name, static_configs = { { targets = job.targets } } }
  end)
  if #want.probes > 0 then
    scrapes[#scrapes + 1] = {
      job_name = "probe",
      metrics_path = "/probe",
      params = { module = { "http_2xx" } },
      static_configs = { { targets = want.probes } },
      relabel_configs = {
        { source_labels = { "__address__" }, target_label = "__param_target" },
        { source_labels = { "__param_target" }, target_label = "instance" },
        { target_label = "__address__", replacement = "127.0.0.1:9115" },
      },
    }
    service { names.blackbox, enable = true, require = prometheus }
  end

  local alerts = {}
  for name, rule in tbl.pairs(want.rules) do
    alerts[#alerts + 1] = tbl.merge({ alert = name }, rule)
  end
  local rules = file {
    "/etc/prometheus/ccm.rules.yml",
    content = yaml.encode({ groups = { { name = "ccm", rules = alerts } } }),
    validate = "promtool check rules %s",
    require = prometheus,
  }
  local conf = file {
    "/etc/prometheus/prometheus.yml",
    content = yaml.encode({
      global = { scrape_interval = want.interval, evaluation_interval = want.interval },
      rule_files = { "/etc/prometheus/ccm.rules.yml" },
      scrape_configs = scrapes,
    }),
    validate = "promtool check config %s",
    require = rules,
  }
  local flags = ("--storage.tsdb.retention.time=%s --web.listen-address=%s"):format(want.retention, want.listen)
  local options = file {
    "/etc/default/prometheus",
    content = ("%s='%s'\n"):format(debian and "ARGS" or "PROMETHEUS_OPTS", debian and flags
      or "--config.file=/etc/prometheus/prometheus.yml --storage.tsdb.path=/var/lib/prometheus/data " .. flags),
    require = prometheus,
  }
  service { "prometheus", enable = true, subscribe = { conf, rules, options } }
end
