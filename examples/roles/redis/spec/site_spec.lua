describe("redis", function()
  local function site(family, id, container)
    return catalog("site.lua", { facts = { os = { family = family, id = id }, virtual = { container = container or "none" } } })
  end

  it("has the names of the distribution", function()
    assert.order(site("debian", "debian"), "package#redis-server", "file#/etc/redis/redis.conf", "service#redis-server")
    assert.resource(site("rhel", "rocky"), "service#redis", { enable = true })
    assert.resource(site("rhel", "fedora"), "file#/etc/valkey/valkey.conf", { owner = "valkey" })
  end)

  it("leaves the kernel of a container alone", function()
    assert.resource(site("debian", "debian"), "sysctl#vm.overcommit_memory")
    assert.no_resource(site("debian", "debian", "lxc"), "sysctl#vm.overcommit_memory")
  end)

  it("writes settings, and lists as several lines", function()
    local cat = site("debian", "debian")
    cat:converge()
    assert.matches("\nsave 3600 1\nsave 300 100\n", cat:read "/etc/redis/redis.conf")
    assert.matches("LimitNOFILE=65536", cat:read "/etc/systemd/system/redis-server.service.d/limits.conf")
  end)
end)
