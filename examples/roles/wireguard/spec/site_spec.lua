describe("the hub", function()
  for _, family in ipairs { "debian", "rhel" } do
    it("has a key before it starts on " .. family, function()
      local cat = catalog("site.lua", { facts = { os = { family = family } } })
      assert.order(cat, "package#wireguard-tools", "exec#key of wg0", "service#wg-quick@wg0")
      cat:converge()
      local conf = cat:read "/etc/wireguard/wg0.conf"
      assert.matches("\nAllowedIPs = 10.8.0.3/32, 192.168.7.0/24\n", conf)
      assert.no_match("PrivateKey", conf)
    end)
  end
end)
