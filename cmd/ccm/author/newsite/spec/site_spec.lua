describe("the site", function()
  local cat

  before_each(function()
    cat = catalog("site.lua", { facts = { os = { family = "debian" } } })
  end)

  it("names who manages the machine", function()
    assert.resource(cat, "file#/etc/motd", { mode = "0644" })
  end)

  it("changes nothing the second time", function()
    cat:converge()
    assert.are.equal("This machine is managed by ccm.\n", cat:read("/etc/motd"))
  end)
end)
