package apt

import (
	"context"

	"github.com/luaccm/ccm/providers/pkgtool"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// repositories are the paths of apt's list of repositories and of their indexes.
var repositories = []string{"/etc/apt", "/var/lib/apt/lists"}

// PredictAll predicts the success of packages: apt simulates the installation of all packages
// once. Only if that fails, it is asked for each package.
func (p packages) PredictAll(ctx context.Context, v *host.View, wants []resources.Package) []resource.Prediction {
	return tool.Predict(ctx, v, wants, p.predict)
}

func (p packages) predict(ctx context.Context, v *host.View, wants []resources.Package) []resource.Prediction {
	list := make([]resource.Prediction, len(wants))
	states, errs := p.StatusAll(ctx, v, wants)
	var install []request
	var removed []removal
	constrained := false
	for i, want := range wants {
		n, err := parseName(want.Name)
		if errs[i] != nil || err != nil {
			continue
		}
		list[i].Err = pkgtool.CheckSource(v, want, states[i], func(path string) error { return checkFile(ctx, v, want, n, path) })
		if want.Ensure.IsAbsent() && states[i].Removable() {
			removed = append(removed, removal{n, i})
		}
		if !want.AsksVersion(states[i]) {
			continue
		}
		if err := checkArchitecture(ctx, v, n); err != nil {
			list[i].Err = err
			continue
		}
		spec := n.String()
		switch {
		case want.Ensure.IsVersion():
			spec += "=" + string(want.Ensure)
		case want.Ensure.IsConstraint():
			constrained = true
		}
		install = append(install, request{n, i, spec})
	}
	// The version for a constraint has to be chosen first.
	if len(install) > 0 && (constrained || !predictTogether(ctx, v, wants, install, list)) {
		predictEach(ctx, v, wants, install, list)
	}
	for _, x := range install {
		tool.PredictRefresh(ctx, v, wants[x.at], &list[x.at])
	}
	predictRemovals(ctx, v, wants, removed, len(install) > 0, list)
	pkgtool.AddQualified(wants, list, withoutArch)
	return list
}

// predictEach asks apt for the versions of each package, and simulates the installation of the
// available ones: all together and, if that fails, one by one.
func predictEach(ctx context.Context, v *host.View, wants []resources.Package, install []request, list []resource.Prediction) {
	names := make([]name, len(install))
	for i, x := range install {
		names[i] = x.name
	}
	known, err := offers(ctx, v, names, wants[0].Options)
	var offered []request
	for _, x := range install {
		if err != nil {
			list[x.at].Err = err
			continue
		}
		o, ok := known[x.name]
		version, err := selectVersion(ctx, v, wants[x.at], x.name, o, ok)
		list[x.at] = wants[x.at].Prediction(version, repositories, err)
		if err == nil {
			x.spec = x.String() + "=" + version
			offered = append(offered, x)
		}
	}
	if len(offered) == 0 {
		return
	}
	if _, err := simulateInstall(ctx, v, wants, offered); err == nil {
		return
	}
	errs := pkgtool.Conflicts(len(offered), func(at ...int) error {
		some := make([]request, len(at))
		for n, i := range at {
			some[n] = offered[i]
		}
		_, err := simulateInstall(ctx, v, wants, some)
		return err
	})
	for n, err := range errs {
		if x := offered[n]; err != nil {
			list[x.at] = wants[x.at].Prediction("", repositories, err) // another repository may have it
		}
	}
}

// selectVersion returns the version that apt would install.
func selectVersion(ctx context.Context, v *host.View, want resources.Package, n name, o offer, known bool) (string, error) {
	if !known {
		return "", noPackage(n)
	}
	switch version, err := o.best(want.Ensure); {
	case err != nil || version != "":
		return version, err
	case want.Ensure.IsVersion() || want.Ensure.IsConstraint():
		return "", noVersion(want, n, o)
	}
	return "", nothingToInstall(ctx, v, n)
}

// noPackage returns the error that apt does not know a package.
func noPackage(n name) error {
	return pkgtool.Missing("apt is unable to locate package %s (if it is new in a repository, run apt-get update first)", n)
}
