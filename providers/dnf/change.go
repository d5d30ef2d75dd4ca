package dnf

import (
	"context"
	"fmt"
	"strings"

	"github.com/luaccm/ccm/providers/pkgtool"
	"github.com/luaccm/ccm/providers/pkgtool/rpm"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
)

// holdCommand returns the command of the plugin versionlock that holds or releases packages.
func holdCommand(hold bool) []string {
	return []string{"dnf", "-q", "versionlock", map[bool]string{true: "add", false: "delete"}[hold]}
}

// lockedPackages returns the names of the packages on hold (versionlock), if a package manages
// its hold.
func lockedPackages(ctx context.Context, v *host.View, wants []resources.Package) (names []string, err error) {
	if !pkgtool.AnyHold(wants) {
		return nil, nil
	}
	res, err := tool.Query(ctx, v, "dnf", "-q", "versionlock", "list")
	if err != nil {
		return nil, err
	}
	if res.Code != 0 {
		return nil, fmt.Errorf("dnf versionlock list: exit status %d%s (the plugin is in dnf-plugins-core or python3-dnf-plugin-versionlock)", res.Code, res.LastWords())
	}
	for line := range strings.Lines(string(res.Stdout)) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "Package name: "); ok { // dnf 5
			names = append(names, name)
		} else if line != "" && !strings.ContainsAny(line, " !#") { // name-0:1.0-1.*
			names = append(names, rpm.NameOf(line))
		}
	}
	return names, nil
}
