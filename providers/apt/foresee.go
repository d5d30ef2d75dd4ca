package apt

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

var _ resource.Foreseeing[resources.Package] = packages{}

// repositories are where apt is told of its repositories, and keeps what they have.
var repositories = []string{"/etc/apt", "/var/lib/apt/lists"}

// A wanted is a package that apt would be asked to install.
type wanted struct {
	name
	at   int
	spec string // as apt is told of it
}

// ForeseeAll implements resource.Foreseeing: apt is asked once what it has of all
// packages, and tries in a simulation to install them together.
func (p packages) ForeseeAll(ctx context.Context, v *host.View, wants []resources.Package) []resource.Prospect {
	list := make([]resource.Prospect, len(wants))
	if err := host.NeedsRoot("only root can install and remove packages"); err != nil {
		for i := range list {
			list[i].Err = err
		}
		return list
	}
	states, errs := p.StatusAll(ctx, v, wants)
	var names []name
	for i, want := range wants {
		n, err := parseName(want.Name)
		if errs[i] == nil && err == nil && isToInstall(want, states[i]) {
			names = append(names, n)
		}
	}
	if len(names) == 0 {
		return list
	}
	known, err := offers(ctx, v, names)
	var install []wanted
	for i, want := range wants {
		n, nameErr := parseName(want.Name)
		if errs[i] != nil || nameErr != nil || !isToInstall(want, states[i]) {
			continue
		}
		if err != nil {
			list[i].Err = err
			continue
		}
		o, ok := known[n]
		version, offerErr := chosen(ctx, v, want, n, o, ok)
		list[i] = resource.Prospect{
			Look: host.Look{Kind: host.RepositoryLook, Name: want.Name, Found: offerErr == nil}, HangsOn: repositories, Err: offerErr,
		}
		if offerErr == nil {
			list[i].Caveat = "version " + version
			install = append(install, wanted{n, i, n.String() + "=" + version})
		}
	}
	simulate(ctx, v, install, list)
	return list
}

// isToInstall reports whether apt has to have a version of a package.
func isToInstall(want resources.Package, have resources.PackageState) bool {
	return want.Ensure != resources.PackageAbsent && (!have.Installed() || want.Ensure != resources.PackagePresent && have.Order != 0)
}

// chosen returns the version that apt would install.
func chosen(ctx context.Context, v *host.View, want resources.Package, n name, o offer, known bool) (string, error) {
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

// simulate has apt say whether it could install packages: all together and, if
// that fails, each by itself.
func simulate(ctx context.Context, v *host.View, install []wanted, list []resource.Prospect) {
	if len(install) == 0 || try(ctx, v, install) == nil {
		return
	}
	for _, x := range install {
		if err := try(ctx, v, []wanted{x}); err != nil {
			list[x.at].Err, list[x.at].Caveat = err, ""
			list[x.at].Look.Found = false // another repository may mend it
		}
	}
}

// try has apt simulate an installation.
func try(ctx context.Context, v *host.View, install []wanted) error {
	argv := []string{"apt-get", "install", "--simulate", "-o", "Dir::Log::Planner=/dev/null", "-y", "-q", "--allow-downgrades"}
	for _, x := range install {
		argv = append(argv, x.spec)
	}
	res, err := query(ctx, v, argv...)
	if err != nil || res.Code == 0 {
		return err
	}
	return fmt.Errorf("apt could not install it: exit status %d%s", res.Code, lastWords(res))
}
