package apt

import (
	"context"
	"slices"
	"strings"

	"github.com/luaccm/ccm/providers/pkgtool"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

var _ resource.Lister = packages{}

// inventory returns the names of all installed packages.
func (packages) inventory(ctx context.Context, v *host.View) (resource.Inventory, error) {
	return pkgtool.ListLines(ctx, v, tool, "installed ", "dpkg-query", "-W", `-f=${db:Status-Status} ${Package}\n`)
}

func (packages) companionText(wants []resources.Package, came, went []string) string {
	bare := func(names []string) []string {
		for i, name := range names {
			names[i] = strings.TrimPrefix(name, "installed ")
		}
		return names
	}
	return pkgtool.CompanionText(wants, bare(came), bare(went), withoutArch)
}

// Names implements resource.Lister: the packages known to apt, installed or not.
func (packages) Names(ctx context.Context, v *host.View, prefix string) ([]string, error) {
	res, err := tool.Query(ctx, v, "apt-cache", "pkgnames", "--", prefix)
	if err != nil || res.Code != 0 {
		return nil, err
	}
	names := strings.Fields(string(res.Stdout))
	slices.Sort(names)
	return slices.Compact(names), nil
}
