describe("the mail relay", function()
  local function site(family)
    return catalog("site.lua", { facts = { fqdn = "web1.example.com", os = { family = family } } })
  end

  it("has the packages of the distribution", function()
    assert.resource(site "debian", "package#libsasl2-modules")
    assert.resource(site "rhel", "package#cyrus-sasl-plain")
  end)

  it("relays, and converges", function()
    local cat = site "debian"
    assert.order(cat, "package#postfix", "file#/etc/postfix/main.cf", "exec#newaliases")
    assert.no_resource(cat, "file#/etc/postfix/sasl_passwd")
    cat:converge()
    assert.matches("\nrelayhost = %[smtp.example.com%]:587\n", cat:read "/etc/postfix/main.cf")
    assert.matches("\nmyhostname = web1.example.com\n", cat:read "/etc/postfix/main.cf")
    assert.matches("\nroot: admin@example.com\n", cat:read "/etc/aliases")
  end)
end)
