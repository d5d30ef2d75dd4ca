-- nginx with upstreams and virtual hosts, on Debian and RHEL and their relatives. The
-- settings are in site.yaml. A change of a virtual host reloads nginx, and a mistake in one
-- leaves the configuration as it was.
local want = data.load("site.yaml")
local rhel = facts.os.family == "rhel"
file.defaults { owner = "root", group = "root", mode = "0644" }

if rhel and want.nginx_org then
  require "std.yum_repo" {
    "nginx",
    baseurl = ("https://nginx.org/packages/centos/%d/$basearch/"):format(facts.os.release_major),
    gpgkey = "https://nginx.org/keys/nginx_signing.key",
    before = "package#nginx",
  }
end
local nginx = package { "nginx" }

-- writes a file that nginx has to accept
local function conf_file(path, template_file, values)
  return file { path, content = template.render(template_file, values), validate_after = "/usr/sbin/nginx -t", require = nginx }
end

-- removes a file that nginx has to do without
local function without_file(path)
  return file { path, ensure = "absent", validate_after = "/usr/sbin/nginx -t", require = nginx }
end

local conf = { conf_file("/etc/nginx/nginx.conf", "templates/nginx.conf.tmpl", want) }
if not want.default_vhost then
  local path = rhel and "/etc/nginx/conf.d/default.conf" or "/etc/nginx/sites-enabled/default"
  conf[#conf + 1] = without_file(path)
end
for _, vhost in ipairs(want.vhosts) do
  local path = "/etc/nginx/conf.d/" .. vhost.name .. ".conf"
  if vhost.ensure == "absent" then
    conf[#conf + 1] = without_file(path)
  else
    local values = tbl.merge({ listen = "80", listen_ipv6 = want.listen_ipv6, names = vhost.name }, vhost)
    conf[#conf + 1] = conf_file(path, "templates/vhost.tmpl", values)
  end
end

service { "nginx", enable = true, on_change = "reload", subscribe = conf }
