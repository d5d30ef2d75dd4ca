package pkgtool

import (
	"context"
	"slices"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// inventory returns the names of all installed packages.
func (p *Packages) inventory(ctx context.Context, v *host.View) (resource.Inventory, error) {
	names, err := p.Names(ctx, v, "")
	return names, err
}

func (p *Packages) companionText(wants []resources.Package, came, went []string) string {
	return CompanionText(wants, came, went, p.plain)
}

// CompanionText names the packages that came or went besides the wanted ones. Plain returns a
// name without its architecture.
func CompanionText(wants []resources.Package, came, went []string, plain func(name string) string) string {
	isWanted := func(name string) bool {
		return slices.ContainsFunc(wants, func(want resources.Package) bool { return want.Name == name || plain(want.Name) == name })
	}
	came, went = slices.DeleteFunc(came, isWanted), slices.DeleteFunc(went, isWanted)
	return resources.PackagesAlong(len(wants), wants[0].Ensure.IsAbsent(), came, went)
}
