describe("the runner", function()
  local function site(family, arch)
    return catalog("site.lua", { facts = { os = { family = family }, kernel = { machine = arch } } })
  end

  it("has its dependencies and the program of the machine", function()
    assert.resource(site("debian", "x86_64"), "package#libicu-dev")
    local cat = site("rhel", "aarch64")
    assert.resource(cat, "package#libicu")
    assert.matches("/v2.319.1/actions%-runner%-linux%-arm64%-2.319.1.tar.gz$", cat:resource("archive#/var/cache/actions-runner-linux-arm64-2.319.1.tar.gz").properties.url)
  end)

  it("is not started without a token", function()
    local cat = site("debian", "x86_64")
    assert.no_resource(cat, "service#actions-runner")
    assert.order(cat, "user#runner", "unit#actions-runner.service")
    assert.matches("User=runner\n", cat:resource("unit#actions-runner.service").properties.content)
  end)

  it("knows which machines have one", function()
    assert.error_matches(function() site("debian", "riscv64") end, "no runner for riscv64")
  end)
end)
