describe("the bastion", function()
  local function site(family)
    return catalog("site.lua", {
      facts = { os = { family = family } },
      files = { ["/home/ada/.ssh/authorized_keys"] = "", ["/home/ops/.ssh/authorized_keys"] = "" },
    })
  end

  it("has the service of the distribution", function()
    assert.order(site "debian", "package#openssh-server", "file#/etc/ssh/sshd_config.d/10-bastion.conf", "service#ssh")
    assert.resource(site "rhel", "service#sshd", { on_change = "reload" })
  end)

  it("lets people through and no further", function()
    local cat = site "debian"
    assert.resource(cat, "user#ada", { shell = "/usr/sbin/nologin", groups = { "jump" } })
    assert.resource(cat, "user#bob", { ensure = "absent" })
    cat:converge()
    assert.matches("^restrict,port%-forwarding ssh%-ed25519 ", cat:read "/home/ada/.ssh/authorized_keys")
    assert.matches("^ssh%-ed25519 ", cat:read "/home/ops/.ssh/authorized_keys")
    assert.matches("Match Group jump\n    AllowTcpForwarding local\n    PermitOpen %*:22\n", cat:read "/etc/ssh/sshd_config.d/10-bastion.conf")
  end)
end)
