local nginx = require "nginx"
nginx.server()
nginx.vhost { "example.org", names = { "www.example.org" }, root = "/srv/www" }
nginx.vhost {
  "shop.example.org",
  tls = { certificate = "/etc/ssl/shop.pem", key = "/etc/ssl/shop.key", hsts = 86400 },
  proxy = "http://127.0.0.1:8080",
  locations = { ["/static/"] = { root = "/srv/shop" }, ["/old"] = { redirect = "/new" } },
}
nginx.vhost { "gone.example.org", ensure = "absent" }
