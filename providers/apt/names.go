package apt

import (
	"context"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

var _ resource.Lister = packages{}

// Names implements resource.Lister: the packages that apt knows, installed or
// not.
func (packages) Names(ctx context.Context, v *host.View, prefix string) ([]string, error) {
	res, err := tool.Query(ctx, v, "apt-cache", "pkgnames", "--", prefix)
	if err != nil || res.Code != 0 {
		return nil, err
	}
	names := strings.Fields(string(res.Stdout))
	slices.Sort(names)
	return slices.Compact(names), nil
}
