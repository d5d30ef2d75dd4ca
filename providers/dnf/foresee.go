package dnf

import (
	"context"
	"fmt"
	"strings"

	"github.com/luaccm/ccm/providers/pkgtool"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

var _ resource.BatchForecaster[resources.Package] = packages{}

// repositories are where dnf is told of its repositories.
var repositories = []string{"/etc/yum.repos.d", "/etc/dnf"}

// ForeseeAll implements resource.BatchForecaster: dnf is asked once what the repositories have
// of all packages, and once whether it could install those that are absent.
func (p packages) ForeseeAll(ctx context.Context, v *host.View, wants []resources.Package) []resource.Prospect {
	return pkgtool.Foresee(ctx, v, wants, p.foresee)
}

func (p packages) foresee(ctx context.Context, v *host.View, wants []resources.Package) []resource.Prospect {
	list := make([]resource.Prospect, len(wants))
	states, errs := p.StatusAll(ctx, v, wants)
	var names []string
	for i, want := range wants {
		if errs[i] == nil && want.AsksVersion(states[i]) {
			names = append(names, want.Name)
		}
	}
	known, err := pkgtool.Ask(ctx, v, names, offers)
	var absent []int
	for i, want := range wants {
		if errs[i] != nil || !want.AsksVersion(states[i]) {
			continue
		}
		if err != nil {
			list[i].Err = err
			continue
		}
		version, err := selectVersion(want, states[i], known[want.Name])
		list[i] = want.Prospect(version, repositories, err)
		if err == nil && !states[i].Installed() {
			absent = append(absent, i)
		}
	}
	foreseeInstalls(ctx, v, wants, absent, list)
	return list
}

// selectVersion returns the version that dnf would install.
func selectVersion(want resources.Package, have resources.PackageState, list []offer) (string, error) {
	ok := func(offer) bool { return true }
	if want.Ensure.IsVersion() {
		wish, err := parseEVR(string(want.Ensure))
		if err != nil {
			return "", err
		}
		ok = func(o offer) bool { return o.compare(wish) == 0 }
	}
	arch := noarch
	if have.Installed() {
		arch = have.Metadata.Arch
	}
	best, found := newest(list, arch, ok)
	if found {
		return best.withoutEpoch(), nil
	}
	if len(list) == 0 {
		return "", fmt.Errorf("no repository has a package %s", want.Name)
	}
	var versions []string
	for _, o := range list {
		versions = append(versions, o.withoutEpoch())
	}
	return "", fmt.Errorf("no repository has version %s of %s, but %s", want.Ensure, want.Name, strings.Join(versions, ", "))
}
