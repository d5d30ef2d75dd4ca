-- A node of a Kubernetes cluster with k3s: what it needs of the kernel, the program of one version, its
-- configuration and its service. The settings are in site.yaml. A new version is downloaded beside the old
-- one, and the service restarts with it.
local kernel_module, link, sysctl, unit = require "std.kernel_module", require "std.link", require "std.sysctl", require "std.unit"
local want = data.load("site.yaml")
local container = facts.virtual.container ~= "none" -- its kernel is somebody else's
file.defaults { owner = "root", group = "root", mode = "0644" }
local name = ({ x86_64 = "k3s", aarch64 = "k3s-arm64" })[facts.kernel.machine] or ccm.fail("no k3s for " .. facts.kernel.machine)
if want.role == "agent" and not (want.config.server and want.token_file) then
  ccm.fail("an agent wants server in config, and token_file")
end

package { { "curl", "iptables" } }
if not container then
  for _, module in ipairs(want.modules) do
    kernel_module { module }
  end
  for key, value in tbl.pairs(want.kernel) do
    sysctl { key, value = value, path = "/etc/sysctl.d/60-k3s.conf" }
  end
end

local program = "/usr/local/lib/k3s/" .. want.version .. "/k3s"
local dir = file { path.dir(program), ensure = "directory", mode = "0755" }
local check = want.checksums[name] and ('echo "%s  $1" | sha256sum -c --quiet'):format(want.checksums[name]) or "true"
local download = exec {
  "k3s " .. want.version,
  command = {
    "sh", "-ec",
    'curl -fsSL -o "$1" "$2"; ' .. check .. '; chmod 755 "$1"; mv "$1" "$0"',
    program, program .. ".part", ("%s/%s/%s"):format(want.url, str.replace(want.version, "+", "%2B"), name),
  },
  creates = program,
  require = { dir, "package#curl" },
}
file { "/usr/local/bin", ensure = "directory", mode = "0755" }
local current = link { "/usr/local/bin/k3s", target = program, require = download }
link { "/usr/local/bin/kubectl", target = "k3s", require = current }

local config = tbl.merge({}, want.config)
if want.token_file then config["token-file"] = want.token_file end
local conf = file { "/etc/rancher/k3s/config.yaml", content = yaml.encode(config), mode = "0600", parents = true }

local service_name = want.role == "agent" and "k3s-agent" or "k3s"
local definition = unit {
  service_name .. ".service",
  content = str.join({
    "[Unit]", "Description=Lightweight Kubernetes", "After=network-online.target", "Wants=network-online.target", "",
    "[Service]", "Type=notify", "ExecStart=/usr/local/bin/k3s " .. want.role, "KillMode=process", "Delegate=yes",
    "LimitNOFILE=1048576", "LimitNPROC=infinity", "LimitCORE=infinity", "TasksMax=infinity", "TimeoutStartSec=0",
    "Restart=always", "RestartSec=5s", "", "[Install]", "WantedBy=multi-user.target", "",
  }, "\n"),
}
service { service_name, enable = true, subscribe = { conf, current, definition } }
