-- nginx with virtual hosts, TLS and proxies, on Debian, RHEL and their relatives.
--
--   local nginx = require "nginx"
--   nginx.server()
--   nginx.vhost { "example.org", root = "/srv/www", tls = { certificate = "/etc/ssl/example.org.pem", key = "/etc/ssl/example.org.key" } }
--
-- The directives are those of nginx.org/en/docs: ngx_http_core_module, ngx_http_ssl_module,
-- ngx_http_proxy_module, and "Configuring HTTPS servers".
local nginx = {}

local dir = "/etc/nginx"
local own = { owner = "root", group = "root", mode = "0644" }
local declared = {} -- what server() has made

-- asks nginx about all of its configuration, after a file was replaced; if it refuses, the file
-- is again what it was
local test = "nginx -t -q"

local function check(options, known, what)
  for key in pairs(options) do
    if type(key) == "string" and not known[key] then error(what .. " has no option " .. key, 3) end
  end
end

local function set(list)
  local out = {}
  for _, key in ipairs(list) do
    out[key] = true
  end
  return out
end

local server_options = set { "default_site", "version_in_errors" }

--- Installs nginx and runs it. default_site = true keeps the page that the distribution shows
--- for names that no virtual host has; version_in_errors = true shows the version on error pages.
function nginx.server(options)
  options = options or {}
  check(options, server_options, "nginx.server")
  local package_of = package { "nginx" }
  declared.package = package_of
  local subscribe = {
    file {
      dir .. "/conf.d/00-ccm.conf",
      content = template.render("nginx/common.tmpl", { tokens = options.version_in_errors and "on" or "off" }),
      owner = own.owner,
      group = own.group,
      mode = own.mode,
      require = package_of,
      validate_after = test,
    },
  }
  if not options.default_site then
    local path = facts.os.family == "debian" and "/sites-enabled/default" or "/conf.d/default.conf"
    subscribe[#subscribe + 1] = file { dir .. path, ensure = "absent", require = package_of }
  end
  declared.service = service { "nginx", enable = true, on_change = "reload", subscribe = subscribe }
  return declared.service
end

local vhost_options = set { "names", "port", "root", "index", "proxy", "tls", "locations", "ensure", "extra" }
local tls_options = set { "certificate", "key", "redirect", "hsts", "port" }

--- Declares a virtual host. The options:
---   names        further names of the server
---   port         of http, 80
---   root, index  the directory of its files, and what is shown of a directory
---   proxy        the server that answers in its place: "http://127.0.0.1:8080"
---   tls          { certificate =, key =, port = 443, redirect = true, hsts = seconds }: with
---                redirect, http leads to https
---   locations    { ["/api/"] = { proxy = "http://127.0.0.1:9000" }, ["/old"] = { redirect = "/new" } }
---   extra        further directives, one each
---   ensure       "absent" removes it
function nginx.vhost(options)
  local name = options[1] or error("nginx.vhost wants a name: nginx.vhost { \"example.org\" }", 2)
  if not declared.service then error("call nginx.server() before nginx.vhost", 2) end
  check(options, vhost_options, "nginx.vhost")
  local path = dir .. "/conf.d/" .. name .. ".conf"
  if options.ensure == "absent" then
    return file { path, ensure = "absent", validate_after = test, require = declared.package, notify = declared.service }
  end
  local tls = options.tls
  if tls then
    check(tls, tls_options, "tls")
    if not tls.certificate or not tls.key then error("tls wants certificate and key", 2) end
    tls = { certificate = tls.certificate, key = tls.key, port = tls.port or 443, redirect = tls.redirect ~= false, hsts = tls.hsts or 0 }
  end
  local locations = {}
  for at, location in tbl.pairs(options.locations or {}) do
    locations[#locations + 1] = { path = at, proxy = location.proxy or "", redirect = location.redirect or "", root = location.root or "" }
  end
  if options.proxy and not (options.locations and options.locations["/"]) then
    locations[#locations + 1] = { path = "/", proxy = options.proxy, redirect = "", root = "" }
  end
  return file {
    path,
    content = template.render("nginx/vhost.tmpl", {
      names = str.join(tbl.concat({ name }, options.names or {}), " "),
      port = options.port or 80,
      root = options.root or "",
      index = options.index or "index.html",
      tls = tls or {},
      secure = tls ~= nil,
      redirects = tls ~= nil and tls.redirect,
      locations = locations,
      extra = options.extra or {},
    }),
    owner = own.owner,
    group = own.group,
    mode = own.mode,
    require = declared.package,
    notify = declared.service,
    validate_after = test,
  }
end

return nginx
