package facts

import (
	"context"
	"net/netip"
	"slices"

	gnet "github.com/shirou/gopsutil/v4/net"

	"github.com/luaccm/ccm/runtime/host"
)

func gatherNet(ctx context.Context, v *host.View) (any, error) {
	n, err := readNetworks(ctx, v)
	if err != nil {
		return nil, err
	}
	return n.short(), nil
}

// short returns the branch net. ip, ip6 and mac belong to the interface of the default route, IPv4
// first; without a default route, to the first interface that has any.
func (n networks) short() map[string]any {
	branch, byName := make(map[string]any), make(map[string]any)
	for _, i := range n.interfaces {
		byName[i.Name] = shortInterface(i)
	}
	branch["interfaces"] = byName
	dev4, dev6 := n.v4.dev, n.v6.dev
	main := dev4
	if main == "" {
		main = dev6
	}
	put(branch, "interface", main)
	if dev4 == "" {
		dev4 = n.firstWith(netip.Addr.Is4)
	}
	if dev6 == "" {
		dev6 = n.firstWith(netip.Addr.Is6)
	}
	if main == "" {
		if main = dev4; main == "" {
			main = dev6
		}
	}
	if n.v4.gateway.IsValid() {
		branch["gateway"] = n.v4.gateway.String()
	}
	if n.v6.gateway.IsValid() {
		branch["gateway6"] = n.v6.gateway.String()
	}
	copyFact(branch, byName[dev4], "ip")
	copyFact(branch, byName[dev6], "ip6")
	copyFact(branch, byName[main], "mac")
	return branch
}

// firstWith returns the first interface that is up and has a global address of
// that family.
func (n networks) firstWith(family func(netip.Addr) bool) string {
	for _, i := range n.interfaces {
		if slices.Contains(i.Flags, "up") && slices.ContainsFunc(globalAddresses(i), family) {
			return i.Name
		}
	}
	return ""
}

func shortInterface(i gnet.InterfaceStat) map[string]any {
	out := map[string]any{"mtu": int64(i.MTU), "up": slices.Contains(i.Flags, "up")}
	put(out, "mac", i.HardwareAddr)
	addresses := []any{}
	for _, a := range i.Addrs {
		addresses = append(addresses, a.Addr)
	}
	out["addresses"] = addresses
	global := globalAddresses(i)
	if k := slices.IndexFunc(global, netip.Addr.Is4); k >= 0 {
		out["ip"] = global[k].String()
	}
	if k := slices.IndexFunc(global, netip.Addr.Is6); k >= 0 {
		out["ip6"] = global[k].String()
	}
	return out
}

// copyFact copies a fact of an interface, if the interface has it.
func copyFact(to map[string]any, from any, name string) {
	if m, ok := from.(map[string]any); ok && m[name] != nil {
		to[name] = m[name]
	}
}
