package guard

import (
	"net/netip"

	"github.com/luaccm/ccm/runtime/diag"
)

// CheckLoopback refuses an address that other machines can reach. It also refuses names, because
// their addresses are decided elsewhere.
func CheckLoopback(listen string) error {
	to, err := netip.ParseAddrPort(listen)
	if err != nil {
		return diag.Expected("an address with a port such as 127.0.0.1:0").Got("%q", listen)
	}
	if a := to.Addr(); !a.IsLoopback() || a.Is4In6() || a.Zone() != "" {
		return diag.Not(a.String(), "a loopback address")
	}
	return nil
}
