package std

import (
	"math/big"
	"net"
	"net/netip"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
)

func netLibrary() *Library {
	return &Library{
		Name: "net",
		Doc:  "Parses addresses and networks, IPv4 and IPv6. Sends nothing.",
		Funcs: []Func{{
			Signature: `is_address(text: string): boolean`,
			Doc:       "Reports whether text is an IP address.",
			Example:   `net.is_address("10.0.0.256")`, Result: `false`,
			Fn: func(c *call) int {
				_, err := parseAddr(c.str(1))
				return c.give(lua.LBool(err == nil))
			},
		}, {
			Signature: `address(text: string): { address: string, version: integer, loopback: boolean, private: boolean, link_local: boolean, multicast: boolean, unspecified: boolean, reverse: string }`,
			Doc:       "Describes an IP address: its canonical form, its version and its kind. reverse is its reverse DNS name. Text that is not an address is an error.",
			Example:   `net.address("2001:DB8:0::1").address`, Result: `"2001:db8::1"`,
			Fn: netAddress,
		}, {
			Signature: `is_network(text: string): boolean`,
			Doc:       "Reports whether text is a network, such as 10.0.0.0/8.",
			Example:   `net.is_network("10.0.0.0/33")`, Result: `false`,
			Fn: func(c *call) int {
				_, err := netip.ParsePrefix(c.str(1))
				return c.give(lua.LBool(err == nil))
			},
		}, {
			Signature: `network(text: string): { network: string, address: string, prefix: integer, netmask: string, first: string, last: string, version: integer, size: number }`,
			Doc:       "Describes a network: its canonical form, the given address, the prefix length, the netmask, the first and last address and the number of addresses. Text that is not a network is an error.",
			Example:   `net.network("192.168.1.17/24").last`, Result: `"192.168.1.255"`,
			Fn: netNetwork,
		}, {
			Signature: `contains(network: string, part: string): boolean`,
			Doc:       "Reports whether an address, or all of another network, is in a network.",
			Example:   `net.contains("10.0.0.0/8", "10.1.2.3")`, Result: `true`,
			Fn: func(c *call) int {
				outer := networkArg(c, 1)
				if strings.Contains(c.str(2), "/") {
					inner := networkArg(c, 2)
					return c.give(lua.LBool(outer.Bits() <= inner.Bits() && outer.Contains(inner.Addr())))
				}
				return c.give(lua.LBool(outer.Contains(addrArg(c, 2))))
			},
		}, {
			Signature: `host(network: string, number: integer): string`,
			Doc:       "Returns an address of a network by its number: 1 is the one after the first, -1 is the last. A number outside the network is an error.",
			Example:   `net.host("10.0.1.0/24", 10)`, Result: `"10.0.1.10"`,
			Fn: func(c *call) int {
				p := networkArg(c, 1)
				n := new(big.Int).SetInt64(int64(c.number(2)))
				if n.Sign() < 0 {
					n.Add(n, addresses(p))
				}
				return c.giveStr(nthAddress(c, p, n).String())
			},
		}, {
			Signature: `subnet(network: string, bits: integer, number: integer): string`,
			Doc:       "Returns a subnet of a network: its prefix is longer by that many bits, and subnets count from 0. A subnet outside the network is an error.",
			Example:   `net.subnet("10.0.0.0/16", 8, 3)`, Result: `"10.0.3.0/24"`,
			Fn: netSubnet,
		}, {
			Signature: `split_host_port(text: string): (host: string, port: string)`,
			Doc:       "Splits host:port or [address]:port. Anything else is an error.",
			Example:   `net.split_host_port("[::1]:80")`, Result: `"::1", "80"`,
			Fn: func(c *call) int {
				host, port, err := net.SplitHostPort(c.str(1))
				if err != nil {
					c.fail("%w", diag.Expected("host:port").Got("%q", c.str(1)))
				}
				return c.give(lua.LString(host), lua.LString(port))
			},
		}, {
			Signature: `join_host_port(host: string, port: string|integer): string`,
			Doc:       "Returns host:port, with brackets around an IPv6 address.",
			Example:   `net.join_host_port("::1", 80)`, Result: `"[::1]:80"`,
			Fn: func(c *call) int {
				return c.giveStr(net.JoinHostPort(c.str(1), lua.LVAsString(c.L.Get(2))))
			},
		}},
	}
}

// parseAddr parses an address. A zone must be the name or number of an interface: netip accepts any
// text as a zone, even one with line breaks.
func parseAddr(text string) (netip.Addr, error) {
	a, err := netip.ParseAddr(text)
	if err == nil && strings.ContainsFunc(a.Zone(), func(c rune) bool { return c <= ' ' || c > '~' || c == '/' }) {
		return netip.Addr{}, diag.Unknown("interface", a.Zone(), nil)
	}
	return a, err
}

// addrArg returns the address that argument n is.
func addrArg(c *call, n int) netip.Addr {
	a, err := parseAddr(c.str(n))
	if err != nil {
		c.fail("%w", diag.Expected("an IP address as argument %d", n).Got("%q", c.str(n)))
	}
	return a
}

// networkArg returns the network that argument n is.
func networkArg(c *call, n int) netip.Prefix {
	p, err := netip.ParsePrefix(c.str(n))
	if err != nil {
		c.fail("%w", diag.Expected("a network such as 10.0.0.0/8 as argument %d", n).Got("%q", c.str(n)))
	}
	return p.Masked()
}

func ipVersion(a netip.Addr) lua.LNumber {
	if a.Is4() || a.Is4In6() {
		return 4
	}
	return 6
}

func netAddress(c *call) int {
	a := addrArg(c, 1)
	t := c.L.CreateTable(0, 8)
	t.RawSetString("address", lua.LString(a.String()))
	t.RawSetString("version", ipVersion(a))
	for _, is := range []struct {
		name  string
		value bool
	}{
		{"loopback", a.IsLoopback()}, {"private", a.IsPrivate()}, {"link_local", a.IsLinkLocalUnicast()},
		{"multicast", a.IsMulticast()}, {"unspecified", a.IsUnspecified()},
	} {
		t.RawSetString(is.name, lua.LBool(is.value))
	}
	t.RawSetString("reverse", lua.LString(reverseName(a)))
	return c.give(t)
}

// reverseName returns the name of an address in the DNS.
func reverseName(a netip.Addr) string {
	a = a.Unmap().WithZone("")
	raw := a.AsSlice()
	var out strings.Builder
	for i := len(raw) - 1; i >= 0; i-- {
		if a.Is4() {
			out.WriteString(strconv.Itoa(int(raw[i])) + ".")
			continue
		}
		for _, half := range []byte{raw[i] & 15, raw[i] >> 4} {
			out.WriteString(strconv.FormatInt(int64(half), 16) + ".")
		}
	}
	if a.Is4() {
		return out.String() + "in-addr.arpa"
	}
	return out.String() + "ip6.arpa"
}

func netNetwork(c *call) int {
	given, _ := netip.ParsePrefix(c.str(1))
	p := networkArg(c, 1)
	size := addresses(p)
	last := nthAddress(c, p, new(big.Int).Sub(size, big.NewInt(1)))
	count, _ := new(big.Float).SetInt(size).Float64()
	t := c.L.CreateTable(0, 8)
	t.RawSetString("network", lua.LString(p.String()))
	t.RawSetString("address", lua.LString(given.Addr().String()))
	t.RawSetString("prefix", lua.LNumber(p.Bits()))
	t.RawSetString("netmask", lua.LString(net.IP(net.CIDRMask(p.Bits(), p.Addr().BitLen())).String()))
	t.RawSetString("first", lua.LString(p.Addr().String()))
	t.RawSetString("last", lua.LString(last.String()))
	t.RawSetString("version", ipVersion(p.Addr()))
	t.RawSetString("size", lua.LNumber(count))
	return c.give(t)
}

// addresses returns the number of addresses in a network.
func addresses(p netip.Prefix) *big.Int {
	return new(big.Int).Lsh(big.NewInt(1), uint(p.Addr().BitLen()-p.Bits()))
}

// nthAddress returns address number n of a network, counted from 0.
func nthAddress(c *call, p netip.Prefix, n *big.Int) netip.Addr {
	if n.Sign() < 0 || n.Cmp(addresses(p)) >= 0 {
		c.fail("%s: the address is outside the network of %s addresses", p, addresses(p))
	}
	raw := p.Addr().AsSlice()
	sum := new(big.Int).SetBytes(raw)
	a, _ := netip.AddrFromSlice(sum.Add(sum, n).FillBytes(raw))
	return a
}

func netSubnet(c *call) int {
	p := networkArg(c, 1)
	bits, n := c.integer(2, 0), c.number(3)
	if bits < 0 || p.Bits()+bits > p.Addr().BitLen() {
		c.fail("%s cannot be divided by %d more bits", p, bits)
	}
	part := netip.PrefixFrom(p.Addr(), p.Bits()+bits)
	at := new(big.Int).Mul(big.NewInt(int64(n)), addresses(part))
	if n < 0 || at.Cmp(addresses(p)) >= 0 {
		c.fail("%s: subnet number %d with a prefix of %d is out of range", p, int64(n), part.Bits())
	}
	return c.giveStr(netip.PrefixFrom(nthAddress(c, p, at), part.Bits()).String())
}
