describe("sshd", function()
  local function site(family) return catalog("site.lua", { facts = { os = { family = family } } }) end

  it("has the name of the distribution", function()
    assert.resource(site "debian", "service#ssh", { ensure = "running" })
    assert.resource(site "rhel", "service#sshd", { ensure = "running" })
    assert.resource(site "arch", "package#openssh")
  end)

  it("writes settings as sshd reads them", function()
    local cat = site "debian"
    cat:converge()
    assert.equal(
      [[
# Written by ccm.
AllowGroups ssh admin
MaxAuthTries 4
PermitEmptyPasswords no
PermitRootLogin no
Port 22
Port 2222
X11Forwarding no
PasswordAuthentication no
]],
      cat:read "/etc/ssh/sshd_config.d/10-ccm.conf"
    )
  end)

  it("asks sshd before a file is replaced", function()
    assert.resource(site "debian", "file#/etc/ssh/sshd_config.d/10-ccm.conf", { mode = "0600", validate = { "sshd", "-t", "-f", "%s" } })
  end)

  it("ends what holds for a group only", function()
    local cat = site "debian"
    cat:converge()
    local text = cat:read "/etc/ssh/sshd_config.d/50-ccm-group-sftp.conf"
    assert.matches("Match Group sftp\n.*ChrootDirectory /srv/sftp/%%u\n.*\nMatch all\n$", text)
  end)

  it("knows a setting that sshd does not know", function()
    assert.error_matches(function() catalog("wrong.lua", { facts = { os = { family = "debian" } } }) end, "sshd has no setting PermitRootLogn")
  end)
end)
