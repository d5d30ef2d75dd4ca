describe("the backup host", function()
  local function site(family, id)
    return catalog("site.lua", {
      facts = { os = { family = family, id = id } },
    })
  end

  it("has borg of EPEL, where that is needed", function()
    assert.order(site("rhel", "rocky"), "package#epel-release", "package#borgbackup")
    assert.no_resource(site("rhel", "fedora"), "package#epel-release")
    assert.no_resource(site("debian", "debian"), "package#epel-release")
  end)

  it("lets each client do one thing", function()
    local cat = site("debian", "debian")
    cat:converge()
    local keys = cat:read "/srv/backup/.ssh/authorized_keys"
    assert.matches('command="borg serve %-%-restrict%-to%-path /srv/backup/web1 %-%-append%-only",restrict ssh%-ed25519', keys)
    assert.matches("/srv/backup/db1 %-%-storage%-quota 500G", keys)
    assert.matches("find /srv/backup/db1 ", cat:read "/usr/local/sbin/check-backups")
  end)
end)
