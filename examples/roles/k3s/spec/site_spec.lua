describe("the node", function()
  local function site(family, arch, container)
    return catalog("site.lua", { facts = { os = { family = family }, kernel = { machine = arch or "x86_64" }, virtual = { container = container or "none" } } })
  end

  it("has the program of the machine", function()
    local command = site("debian", "aarch64"):resource("exec#k3s v1.30.4+k3s1").properties.command
    assert.matches("/v1.30.4%%2Bk3s1/k3s%-arm64", inspect(command))
    assert.error_matches(function() site("debian", "riscv64") end, "no k3s for riscv64")
  end)

  it("converges, and leaves the kernel of a container alone", function()
    local cat = site "rhel"
    assert.order(cat, "kernel_module#br_netfilter", "sysctl#net.bridge.bridge-nf-call-iptables", "service#k3s")
    assert.order(cat, "exec#k3s v1.30.4+k3s1", "link#/usr/local/bin/k3s", "service#k3s")
    cat:converge()
    assert.are.same({ "traefik" }, yaml.decode(cat:read "/etc/rancher/k3s/config.yaml").disable)
    assert.no_resource(site("debian", "x86_64", "lxc"), "kernel_module#br_netfilter")
  end)
end)
