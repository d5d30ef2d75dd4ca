package facts

import (
	"context"
	"net/netip"

	gnet "github.com/shirou/gopsutil/v4/net"

	"github.com/luaccm/ccm/runtime/host"
)

// networks has the data for the network branches. The interfaces are those of this process, because
// the kernel tells no others.
type networks struct {
	interfaces []gnet.InterfaceStat
	v4, v6     route
}

func readNetworks(ctx context.Context, v *host.View) (networks, error) {
	interfaces, err := gnet.InterfacesWithContext(ctx)
	if err != nil {
		return networks{}, err
	}
	for i := range interfaces {
		interfaces[i].Flags = orEmpty(interfaces[i].Flags)
		interfaces[i].Addrs = orEmpty(interfaces[i].Addrs)
	}
	n := networks{interfaces: interfaces}
	n.v4, n.v6, err = defaultRoutes(running(v))
	return n, err
}

func gatherNetwork(ctx context.Context, v *host.View) (any, error) {
	n, err := readNetworks(ctx, v)
	if err != nil {
		return nil, err
	}
	return n.upstream()
}

// upstream returns the branch network.
func (n networks) upstream() (map[string]any, error) {
	interfaces, err := plain(orEmpty(n.interfaces))
	if err != nil {
		return nil, err
	}
	addresses, default4, default6 := []any{}, "", ""
	for _, i := range n.interfaces {
		for _, addr := range globalAddresses(i) {
			byDefault := addr.Is4() && i.Name == n.v4.dev || addr.Is6() && i.Name == n.v6.dev
			switch {
			case byDefault && addr.Is4() && default4 == "":
				default4 = addr.String()
			case byDefault && addr.Is6() && default6 == "":
				default6 = addr.String()
			}
			addresses = append(addresses, map[string]any{
				"interface": i.Name, "address": addr.String(), "ipv4": addr.Is4(), "default": byDefault,
			})
		}
	}
	return map[string]any{
		"interfaces": interfaces, "addresses": addresses, "default_ipv4": default4, "default_ipv6": default6,
	}, nil
}

// globalAddresses returns the addresses of an interface that other machines can reach: neither
// loopback nor link-local ones.
func globalAddresses(i gnet.InterfaceStat) []netip.Addr {
	var out []netip.Addr
	for _, a := range i.Addrs {
		p, err := netip.ParsePrefix(a.Addr)
		if err == nil && p.Addr().IsGlobalUnicast() {
			out = append(out, p.Addr().Unmap())
		}
	}
	return out
}
