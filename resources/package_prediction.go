package resources

import (
	"fmt"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/resource"
)

// AsksVersion reports whether the package system needs a version to install, because the package
// has to be installed, upgraded or downgraded.
func (p Package) AsksVersion(have PackageState) bool {
	return p.Source == "" && !p.Ensure.IsAbsent() && (!have.Installed() || p.Ensure != PackagePresent && have.Order != 0)
}

// Prediction returns the prediction for a package. Err describes why the package system cannot install
// that version, nil if it can. DependsOn are the paths of the package system's data about
// repositories.
func (p Package) Prediction(version string, dependsOn []string, err error) resource.Prediction {
	x := resource.Prediction{Look: overlay.Look{Kind: overlay.RepositoryLook, Name: p.Name, Found: err == nil}, DependsOn: dependsOn, Err: err}
	if err == nil && !p.Ensure.IsVersion() { // otherwise the plan already names the version
		x.Caveat = "version " + version
	}
	return x
}

// AddPackagesText adds to a caveat what else an installation does: it installs dependencies, and
// removes conflicting packages. If n is not 1, the package is the last of n, and it is unknown
// which of them cause that.
func AddPackagesText(caveat string, n int, installs, removes []string) string {
	var parts []string
	if caveat != "" {
		parts = append(parts, caveat)
	}
	if len(installs) > 0 {
		parts = append(parts, comesWith(n, installs))
	}
	if len(removes) > 0 {
		parts = append(parts, "removes "+Removed(removes))
	}
	return strings.Join(parts, ", ")
}

// PackagesAlong names the packages that came and went when n packages were installed or, with
// removal, removed together.
func PackagesAlong(n int, removal bool, came, went []string) string {
	var parts []string
	if len(came) > 0 {
		parts = append(parts, comesWith(n, came))
	}
	switch {
	case len(went) == 0:
	case !removal:
		parts = append(parts, "removed "+Removed(went))
	case n == 1:
		parts = append(parts, "removed "+Removed(went)+" too")
	default:
		parts = append(parts, fmt.Sprintf("the %d packages also changed %s", n, Removed(went)))
	}
	return strings.Join(parts, ", ")
}

// comesWith names the packages that are installed with n packages.
func comesWith(n int, installs []string) string {
	brings := "with "
	if n > 1 {
		brings = fmt.Sprintf("the %d packages also change ", n)
	}
	return brings + named(installs, "others")
}

// Removed names the packages that are removed as a side effect; of many, only the first ones.
func Removed(names []string) string {
	const most = 12
	names = slices.Sorted(slices.Values(names))
	if more := len(names) - most; more > 1 {
		return fmt.Sprintf("%s and %d others", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

// named names a few packages, and counts the others.
func named(names []string, word string) string {
	const few = 3
	if len(names) > few {
		return fmt.Sprintf("%d %s", len(names), word)
	}
	return strings.Join(slices.Sorted(slices.Values(names)), ", ")
}
