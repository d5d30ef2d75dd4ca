describe("prometheus", function()
  local function site(family)
    return catalog("site.lua", { facts = { os = { family = family, release_major = 9 } } })
  end

  it("has the names of the distribution", function()
    assert.order(site "debian", "package#prometheus-node-exporter", "service#prometheus-node-exporter")
    local rhel = site "rhel"
    assert.order(rhel, "yum_repo#prometheus-rpm", "package#prometheus2", "service#prometheus")
    assert.resource(rhel, "service#node_exporter", { enable = true })
  end)

  it("scrapes, and converges", function()
    local cat = site "debian"
    cat:converge()
    local conf = yaml.decode(cat:read "/etc/prometheus/prometheus.yml")
    assert.are.same({ "node", "probe" }, tbl.map(conf.scrape_configs, function(s) return s.job_name end))
    local rules = yaml.decode(cat:read "/etc/prometheus/ccm.rules.yml")
    assert.equal("{{ $labels.instance }} of {{ $labels.job }} is down", rules.groups[1].rules[2].annotations.summary)
    assert.matches("retention.time=30d", cat:read "/etc/default/prometheus")
  end)
end)
