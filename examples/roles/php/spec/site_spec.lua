describe("the application", function()
  local function site(family, id, major)
    return catalog("site.lua", { facts = { os = { family = family, id = id, release_major = major } },
      commands = { ["git ls-remote -- https://github.com/example/app.git main main^\\{}"] = ("0"):rep(40) .. "\trefs/heads/main\n" } })
  end

  it("has the names of the distribution", function()
    assert.order(site("debian", "debian", 12), "package#php8.2-fpm", "file#/etc/php/8.2/fpm/pool.d/app.conf", "service#php8.2-fpm")
    assert.resource(site("debian", "ubuntu", 24), "package#php8.3-pgsql")
    assert.resource(site("rhel", "rocky", 9), "file#/etc/php-fpm.d/app.conf")
  end)

  it("runs as its own user", function()
    local cat = site("rhel", "rocky", 9)
    cat:converge()
    local pool = cat:read "/etc/php-fpm.d/app.conf"
    assert.matches("\nuser = app\n", pool)
    assert.matches("\nlisten.owner = nginx\n", pool)
    assert.matches("\npm.max_children = 20\n", pool)
    assert.matches("fastcgi_pass unix:/run/php%-app.sock;", cat:read "/etc/nginx/conf.d/app.conf")
  end)
end)
