describe("postgres", function()
  local function site(family)
    return catalog("site.lua", {
      facts = { os = { family = family } },
      files = { ["/etc/postgresql/15/main/postgresql.conf"] = "port = 5432\n" }, -- of the package
    })
  end

  it("has the package and the paths of the distribution", function()
    assert.resource(site "debian", "package#postgresql-15")
    assert.resource(site "debian", "file#/etc/postgresql/15/main/pg_hba.conf", { mode = "0640", owner = "postgres" })
    local rhel = site "rhel"
    assert.resource(rhel, "package#postgresql-server")
    assert.order(rhel, "exec#postgresql-setup --initdb", "service#postgresql")
  end)

  it("writes settings and access", function()
    local cat = site "debian"
    cat:converge()
    local text = cat:read "/etc/postgresql/15/main/conf.d/ccm.conf"
    assert.matches("max_connections = 200\n", text)
    assert.matches("listen_addresses = 'localhost'\n", text)
    assert.matches("log_connections = on\n", text)
    assert.matches("host\tapp\tapp\t127.0.0.1/32\tscram%-sha%-256\n", cat:read "/etc/postgresql/15/main/pg_hba.conf")
  end)

  it("quotes names and texts, and passes no password as an argument", function()
    local cat = site "debian"
    local role = cat:resource("exec#postgres role app").properties
    assert.matches("PASSWORD 'it''s a secret'", role.stdin)
    assert.no_match("secret", inspect(role.unless))
    assert.matches("pg_roles WHERE rolname", inspect(role.unless))
    assert.matches('CREATE DATABASE "the ""app"""', cat:resource('exec#postgres database the "app"').properties.stdin)
    assert.order(cat, "service#postgresql", "exec#postgres role app")
  end)
end)
