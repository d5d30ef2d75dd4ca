-- A web server: package, configuration, service. The order of the declarations
-- is the order of the work; nginx is restarted once if its configuration has
-- changed, and not if it was just started.
--
--   ccm plan examples/web/site.lua
--   sudo ccm run examples/web/site.lua
local site = data.load("site.yaml")

package { "nginx", site.tools }

file.defaults { owner = "root", group = "root", mode = "0644" }

file { "/etc/nginx/conf.d", ensure = "directory", mode = "0755" }

local conf = file {
  "/etc/nginx/conf.d/hello.conf",
  content = table.concat({
    "server {",
    "  listen " .. site.port .. ";",
    "  server_name " .. site.name .. ";",
    "  root /srv/hello;",
    "}",
    "",
  }, "\n"),
}

file { "/srv/hello", ensure = "directory", mode = "0755" }
file { "/srv/hello/index.html", source = "files/index.html" }

-- validate the whole configuration when a part of it has changed
exec { "nginx -t", path = "/usr/sbin:/usr/bin:/sbin:/bin", refreshonly = true, subscribe = conf, before = "service#nginx" }

service { "nginx", enable = true, subscribe = conf }
