package facts

import (
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
)

// A route is a default route: the interface it leaves by and the router it
// leads to, which is not valid if there is none.
type route struct {
	dev     string
	gateway netip.Addr
}

// defaultRoutes returns the default routes for IPv4 and IPv6; dev is "" if there is none.
func defaultRoutes(v *host.View) (v4, v6 route, err error) {
	text, err := readText(v, "/proc/net/route")
	if err != nil {
		return v4, v6, err
	}
	v4 = defaultRoute4(text)
	text, err = readText(v, "/proc/net/ipv6_route")
	return v4, defaultRoute6(text), err
}

// Flags of a route (linux/route.h, linux/ipv6_route.h).
const (
	routeUp     = 0x1
	routeReject = 0x200
)

// defaultRoute4 returns the default route with the lowest metric in the text of
// /proc/net/route: Iface Destination Gateway Flags RefCnt Use Metric Mask ...
func defaultRoute4(table string) route {
	var best route
	lowest := uint64(1) << 32
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) < 8 || f[1] != "00000000" || f[7] != "00000000" {
			continue
		}
		flags, err1 := strconv.ParseUint(f[3], 16, 32)
		metric, err2 := strconv.ParseUint(f[6], 10, 32)
		gateway, err3 := strconv.ParseUint(f[2], 16, 32)
		if err1 != nil || err2 != nil || err3 != nil || flags&routeUp == 0 || flags&routeReject != 0 || metric >= lowest {
			continue
		}
		lowest, best = metric, route{dev: f[0]}
		if gateway != 0 {
			// The kernel prints the bytes of the address as a number in the machine's byte order.
			var b [4]byte
			binary.NativeEndian.PutUint32(b[:], uint32(gateway))
			best.gateway = netip.AddrFrom4(b)
		}
	}
	return best
}

// defaultRoute6 returns the default route with the lowest metric in the text of
// /proc/net/ipv6_route: destination and its length, source and its length, next
// hop, metric, references, use, flags, interface.
func defaultRoute6(table string) route {
	const any6 = "00000000000000000000000000000000"
	var best route
	lowest := uint64(1) << 32
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) < 10 || f[0] != any6 || f[1] != "00" {
			continue
		}
		flags, err1 := strconv.ParseUint(f[8], 16, 32)
		metric, err2 := strconv.ParseUint(f[5], 16, 32)
		gateway, err3 := hex.DecodeString(f[4])
		if err1 != nil || err2 != nil || err3 != nil || flags&routeUp == 0 || flags&routeReject != 0 || metric >= lowest {
			continue
		}
		lowest, best = metric, route{dev: f[9]}
		if addr, ok := netip.AddrFromSlice(gateway); ok && !addr.IsUnspecified() {
			best.gateway = addr
		}
	}
	return best
}
