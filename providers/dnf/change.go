package dnf

import (
	"context"
	"fmt"
	"strings"

	"github.com/luaccm/ccm/providers/pkgtool"
	"github.com/luaccm/ccm/providers/pkgtool/rpm"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
)

// holdCommand returns the command of the plugin versionlock that holds or releases packages.
func holdCommand(hold bool) []string {
	return []string{"dnf", "-q", "versionlock", map[bool]string{true: "add", false: "delete"}[hold]}
}

// lockFiles are where versionlock of dnf 4 and of dnf 5 keeps its locks.
var lockFiles = []string{"/etc/dnf/plugins/versionlock.list", "/etc/dnf/versionlock.toml"}

// hasLocks reports whether a file of locks has a line that is no comment.
func hasLocks(v *host.View) bool {
	for _, file := range lockFiles {
		text, err := v.Recording(nil).ReadUpTo(file, 1<<20) // which no resource brings
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); err == nil && line != "" && !strings.HasPrefix(line, "#") {
				return true
			}
		}
	}
	return false
}

// lockedPackages returns the names of the packages on hold (versionlock). It is asked only if there
// are some, or a package manages its hold.
func lockedPackages(ctx context.Context, v *host.View, wants []resources.Package) (names []string, err error) {
	if !pkgtool.AnyHold(wants) && !hasLocks(v) {
		return nil, nil
	}
	res, err := tool.Query(ctx, v, "dnf", "-q", "versionlock", "list")
	if err != nil {
		return nil, err
	}
	if res.Code != 0 {
		return nil, fmt.Errorf("dnf versionlock list: %w%s (the plugin is in dnf-plugins-core or python3-dnf-plugin-versionlock)", diag.ExitStatus(res.Code), res.LastWords())
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
