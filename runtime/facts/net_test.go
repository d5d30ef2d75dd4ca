package facts

import (
	"net"
	"net/netip"
	"testing"

	gnet "github.com/shirou/gopsutil/v4/net"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
)

func TestDefaultRoute4(t *testing.T) {
	const head = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
	for name, c := range map[string]struct{ table, dev, gateway string }{
		"none":            {head + "eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n", "", ""},
		"one":             {head + "eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n", "eth0", "192.0.2.1"},
		"lowest metric":   {head + "wlan0\t00000000\t0101A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\neth0\t00000000\t0100000A\t0003\t0\t0\t100\t00000000\t0\t0\t0\n", "eth0", "10.0.0.1"},
		"first of equals": {head + "a0\t00000000\t0101A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\nb0\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\t0\t0\t0\n", "a0", "192.168.1.1"},
		"without router":  {head + "ppp0\t00000000\t00000000\t0001\t0\t0\t0\t00000000\t0\t0\t0\n", "ppp0", ""},
		"half of it all":  {head + "tun0\t00000000\t00000000\t0001\t0\t0\t0\t00000080\t0\t0\t0\n", "", ""},
		"rejected":        {head + "lo\t00000000\t00000000\t0201\t0\t0\t0\t00000000\t0\t0\t0\n", "", ""},
		"down":            {head + "eth0\t00000000\t010200C0\t0002\t0\t0\t0\t00000000\t0\t0\t0\n", "", ""},
		"nonsense":        {"x\n\neth0\t00000000\tzz\t0003\t0\t0\t0\t00000000\n", "", ""},
		"empty":           {"", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := defaultRoute4(c.table)
			require.Equal(t, c.dev, got.dev)
			require.Equal(t, c.gateway, textOf(got.gateway))
		})
	}
}

func TestDefaultRoute6(t *testing.T) {
	const any6, prefix = "00000000000000000000000000000000", "fd000000000000000000000000000000"
	line := func(dest, length, hop, metric, flags, dev string) string {
		return dest + " " + length + " " + any6 + " 00 " + hop + " " + metric + " 00000001 00000000 " + flags + "     " + dev + "\n"
	}
	for name, c := range map[string]struct{ table, dev, gateway string }{
		"none":          {line(prefix, "40", any6, "00000100", "00000001", "eth0"), "", ""},
		"one":           {line(any6, "00", "fd000000000000000000000000000001", "00000400", "00000003", "eth0"), "eth0", "fd00::1"},
		"rejected":      {line(any6, "00", any6, "ffffffff", "00200200", "lo"), "", ""},
		"lowest metric": {line(any6, "00", any6, "00000400", "00000001", "a0") + line(any6, "00", any6, "00000100", "00000001", "b0"), "b0", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := defaultRoute6(c.table)
			require.Equal(t, c.dev, got.dev)
			require.Equal(t, c.gateway, textOf(got.gateway))
		})
	}
}

func textOf(a netip.Addr) string {
	if !a.IsValid() {
		return ""
	}
	return a.String()
}

// interfaces of a machine: loopback, a bridge that is down, and two networks.
var someInterfaces = []gnet.InterfaceStat{
	{Index: 1, Name: "lo", MTU: 65536, Flags: []string{"up", "loopback"}, Addrs: gnet.InterfaceAddrList{{Addr: "127.0.0.1/8"}, {Addr: "::1/128"}}},
	{Index: 2, Name: "br0", MTU: 1500, HardwareAddr: "02:00:00:00:00:02", Flags: []string{"broadcast"}, Addrs: gnet.InterfaceAddrList{{Addr: "172.17.0.1/16"}}},
	{Index: 3, Name: "eth0", MTU: 1500, HardwareAddr: "02:00:00:00:00:03", Flags: []string{"up"}, Addrs: gnet.InterfaceAddrList{{Addr: "10.0.0.5/24"}, {Addr: "10.0.0.6/24"}, {Addr: "fe80::3/64"}}},
	{Index: 4, Name: "eth0.100", MTU: 1400, HardwareAddr: "02:00:00:00:00:04", Flags: []string{"up"}, Addrs: gnet.InterfaceAddrList{{Addr: "192.0.2.7/24"}, {Addr: "2001:db8::7/64"}}},
}

func TestNet(t *testing.T) {
	eth0, vlan := route{dev: "eth0", gateway: netip.MustParseAddr("10.0.0.1")}, route{dev: "eth0.100", gateway: netip.MustParseAddr("fe80::1")}
	for name, c := range map[string]struct {
		networks networks
		want     map[string]any // but interfaces
	}{
		"both": {networks{someInterfaces, eth0, vlan}, map[string]any{
			"interface": "eth0", "ip": "10.0.0.5", "ip6": "2001:db8::7", "mac": "02:00:00:00:00:03", "gateway": "10.0.0.1", "gateway6": "fe80::1",
		}},
		"only IPv6": {networks{someInterfaces, route{}, vlan}, map[string]any{
			"interface": "eth0.100", "ip": "10.0.0.5", "ip6": "2001:db8::7", "mac": "02:00:00:00:00:04", "gateway6": "fe80::1",
		}},
		"no default route": {networks{someInterfaces, route{}, route{}}, map[string]any{
			"ip": "10.0.0.5", "ip6": "2001:db8::7", "mac": "02:00:00:00:00:03",
		}},
		"a route without an address": {networks{someInterfaces, route{dev: "br1"}, route{}}, map[string]any{
			"interface": "br1", "ip6": "2001:db8::7",
		}},
		"loopback only": {networks{someInterfaces[:1], route{}, route{}}, map[string]any{}},
		"nothing":       {networks{}, map[string]any{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := c.networks.short()
			require.Len(t, got["interfaces"], len(c.networks.interfaces))
			delete(got, "interfaces")
			require.Equal(t, c.want, got)
		})
	}
}

func TestNetInterfaces(t *testing.T) {
	tree := map[string]any{"net": networks{interfaces: someInterfaces}.short()}
	f := Static(tree)
	got, err := f.Get(`net.interfaces.eth0\.100`)
	require.NoError(t, err)
	require.Equal(t, map[string]any{
		"ip": "192.0.2.7", "ip6": "2001:db8::7", "mac": "02:00:00:00:00:04", "mtu": int64(1400), "up": true,
		"addresses": []any{"192.0.2.7/24", "2001:db8::7/64"},
	}, got)
	got, err = f.Get("net.interfaces.lo")
	require.NoError(t, err)
	require.Equal(t, map[string]any{"mtu": int64(65536), "up": true, "addresses": []any{"127.0.0.1/8", "::1/128"}}, got)
}

func TestNetworkHasUpstreamsLayout(t *testing.T) {
	branch, err := networks{someInterfaces, route{dev: "eth0"}, route{dev: "eth0.100"}}.upstream()
	require.NoError(t, err)
	require.Equal(t, "10.0.0.5", branch["default_ipv4"])
	require.Equal(t, "2001:db8::7", branch["default_ipv6"])
	require.Equal(t, []any{
		map[string]any{"interface": "br0", "address": "172.17.0.1", "ipv4": true, "default": false},
		map[string]any{"interface": "eth0", "address": "10.0.0.5", "ipv4": true, "default": true},
		map[string]any{"interface": "eth0", "address": "10.0.0.6", "ipv4": true, "default": true},
		map[string]any{"interface": "eth0.100", "address": "192.0.2.7", "ipv4": true, "default": false},
		map[string]any{"interface": "eth0.100", "address": "2001:db8::7", "ipv4": false, "default": true},
	}, branch["addresses"])
	require.Equal(t, map[string]any{
		"index": int64(2), "name": "br0", "mtu": int64(1500), "hardwareAddr": "02:00:00:00:00:02",
		"flags": []any{"broadcast"}, "addrs": []any{map[string]any{"addr": "172.17.0.1/16"}},
	}, branch["interfaces"].([]any)[1])

	branch, err = networks{}.upstream()
	require.NoError(t, err)
	require.Equal(t, map[string]any{"addresses": []any{}, "interfaces": []any{}, "default_ipv4": "", "default_ipv6": ""}, branch)
}

func TestNetOfThisMachine(t *testing.T) {
	v := &host.New(host.Options{}).View
	here, err := net.Interfaces()
	require.NoError(t, err)
	byName := get(t, v, "net.interfaces").(map[string]any)
	require.Len(t, byName, len(here))
	for _, i := range here {
		require.Equal(t, int64(i.MTU), byName[i.Name].(map[string]any)["mtu"])
	}
	require.Len(t, get(t, v, "network.interfaces"), len(here))
}
