-- HAProxy in front of web servers, on Debian and RHEL and their relatives: frontends, backends with
-- health checks, and TLS if there are certificates. The settings are in site.yaml. A mistake in them
-- leaves the configuration as it was, a change reloads HAProxy.
local want = data.load("site.yaml")
file.defaults { owner = "root", group = "root", mode = "0644" }

local known = tbl.map(want.backends, function(b) return b.name end)
for _, f in ipairs(want.frontends) do
  if f.backend and not tbl.contains(known, f.backend) then
    ccm.fail(("frontend %s: no backend %s in site.yaml"):format(f.name, f.backend))
  end
end

local haproxy = package { "haproxy" }
local certificates = file { want.certificates, ensure = "directory", mode = "0700", require = haproxy }

local conf = file {
  "/etc/haproxy/haproxy.cfg",
  content = template.render("templates/haproxy.cfg.tmpl", want),
  validate = "/usr/sbin/haproxy -c -q -f %s",
  require = { haproxy, certificates },
}

service { "haproxy", enable = true, on_change = "reload", subscribe = conf }
