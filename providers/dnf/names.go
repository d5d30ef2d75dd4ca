package dnf

import (
	"context"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

var _ resource.Lister = packages{}

// Names implements resource.Lister: the packages that are installed. What could
// be would take dnf seconds to say.
func (packages) Names(ctx context.Context, v *host.View, prefix string) ([]string, error) {
	res, err := tool.Query(ctx, v, "rpm", "-qa", "--queryformat", `%{NAME}\n`)
	if err != nil || res.Code != 0 {
		return nil, err
	}
	names := slices.DeleteFunc(strings.Fields(string(res.Stdout)), func(name string) bool { return !strings.HasPrefix(name, prefix) })
	slices.Sort(names)
	return slices.Compact(names), nil
}
