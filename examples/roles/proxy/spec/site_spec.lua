describe("the reverse proxy", function()
  for _, family in ipairs { "debian", "rhel" } do
    it("serves on " .. family, function()
      local cat = catalog("site.lua", { facts = { os = { family = family } } })
      assert.order(cat, "package#haproxy", "file#/etc/haproxy/haproxy.cfg", "service#haproxy")
      cat:converge()
      local conf = cat:read "/etc/haproxy/haproxy.cfg"
      assert.matches("frontend http\n  bind %*:80\n", conf)
      assert.matches("  server app1 127.0.0.1:8081 check\n", conf)
    end)
  end
end)
