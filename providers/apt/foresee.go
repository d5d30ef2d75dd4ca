package apt

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/luaccm/ccm/providers/pkgtool"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

var _ resource.BatchForecaster[resources.Package] = packages{}

// repositories are where apt is told of its repositories, and keeps what they have.
var repositories = []string{"/etc/apt", "/var/lib/apt/lists"}

// ForeseeAll implements resource.BatchForecaster: apt simulates once that all packages are
// installed. Only if it cannot do that, it is asked what it has of each.
func (p packages) ForeseeAll(ctx context.Context, v *host.View, wants []resources.Package) []resource.Prospect {
	return pkgtool.Foresee(ctx, v, wants, p.foresee)
}

func (p packages) foresee(ctx context.Context, v *host.View, wants []resources.Package) []resource.Prospect {
	list := make([]resource.Prospect, len(wants))
	states, errs := p.StatusAll(ctx, v, wants)
	var install []request
	for i, want := range wants {
		n, err := parseName(want.Name)
		if errs[i] != nil || err != nil || !want.AsksVersion(states[i]) {
			continue
		}
		spec := n.String()
		if want.Ensure.IsVersion() {
			spec += "=" + string(want.Ensure)
		}
		install = append(install, request{n, i, spec})
	}
	if len(install) > 0 && !foreseeTogether(ctx, v, wants, install, list) {
		foreseeEach(ctx, v, wants, install, list)
	}
	return list
}

// foreseeEach asks apt what it has of each package, and simulates the installation of
// those that it has: all together and, if that fails, each by itself.
func foreseeEach(ctx context.Context, v *host.View, wants []resources.Package, install []request, list []resource.Prospect) {
	names := make([]name, len(install))
	for i, x := range install {
		names[i] = x.name
	}
	known, err := offers(ctx, v, names)
	var offered []request
	for _, x := range install {
		if err != nil {
			list[x.at].Err = err
			continue
		}
		o, ok := known[x.name]
		version, err := selectVersion(ctx, v, wants[x.at], x.name, o, ok)
		list[x.at] = wants[x.at].Prospect(version, repositories, err)
		if err == nil {
			x.spec = x.String() + "=" + version
			offered = append(offered, x)
		}
	}
	if len(offered) == 0 {
		return
	}
	if _, err := simulate(ctx, v, offered); err == nil {
		return
	}
	for _, x := range offered {
		if _, err := simulate(ctx, v, []request{x}); err != nil {
			list[x.at] = wants[x.at].Prospect("", repositories, err) // another repository may mend it
		}
	}
}

// selectVersion returns the version that apt would install.
func selectVersion(ctx context.Context, v *host.View, want resources.Package, n name, o offer, known bool) (string, error) {
	switch {
	case !known:
		return "", noPackage(n)
	case want.Ensure.IsVersion() && !slices.Contains(o.versions, string(want.Ensure)):
		if len(o.versions) == 0 {
			return "", fmt.Errorf("apt has no version %s of %s", want.Ensure, n)
		}
		return "", fmt.Errorf("apt has no version %s of %s, but %s", want.Ensure, n, strings.Join(o.versions, ", "))
	case want.Ensure.IsVersion():
		return string(want.Ensure), nil
	case o.candidate == "":
		return "", nothingToInstall(ctx, v, n)
	}
	return o.candidate, nil
}

// noPackage says that apt does not know a package.
func noPackage(n name) error {
	return fmt.Errorf("apt is unable to locate package %s (if it is new in a repository, apt-get update comes first)", n)
}
