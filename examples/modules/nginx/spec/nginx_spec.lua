describe("nginx", function()
  local function site(family) return catalog("site.lua", { facts = { os = { family = family } } }) end

  for _, family in ipairs { "debian", "rhel" } do
    it("converges on " .. family, function()
      local cat = site(family)
      assert.resource(cat, "service#nginx", { ensure = "running", enable = true })
      assert.order(cat, "package#nginx", "file#/etc/nginx/conf.d/example.org.conf")
      assert.stable(cat)
    end)
  end

  it("shows files of a directory", function()
    local cat = site "debian"
    cat:converge()
    local text = cat:read "/etc/nginx/conf.d/example.org.conf"
    assert.matches("listen 80;", text)
    assert.matches("server_name example%.org www%.example%.org;", text)
    assert.matches("root /srv/www;", text)
    assert.no_match("ssl", text)
  end)

  it("leads from http to https, and to a server behind it", function()
    local cat = site "debian"
    cat:converge()
    local text = cat:read "/etc/nginx/conf.d/shop.example.org.conf"
    assert.matches("return 301 https://%$host%$request_uri;", text)
    assert.matches("listen 443 ssl;", text)
    assert.matches("ssl_certificate /etc/ssl/shop%.pem;", text)
    assert.matches("max%-age=86400", text)
    assert.matches("location / {%s+proxy_pass http://127%.0%.0%.1:8080;", text)
    assert.matches("location /old {%s+return 301 /new;", text)
  end)

  it("removes a virtual host, and the page of the distribution", function()
    local cat = site "debian"
    assert.resource(cat, "file#/etc/nginx/conf.d/gone.example.org.conf", { ensure = "absent" })
    assert.resource(cat, "file#/etc/nginx/sites-enabled/default", { ensure = "absent" })
  end)
end)
