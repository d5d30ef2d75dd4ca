package resources

import (
	"fmt"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// AsksVersion reports whether the package system has to have a version of the package:
// it is to be installed, upgraded or downgraded.
func (p Package) AsksVersion(have PackageState) bool {
	return p.Source == "" && !p.Ensure.IsAbsent() && (!have.Installed() || p.Ensure != PackagePresent && have.Order != 0)
}

// Prediction is what a plan tells of a package that the package system can install in that
// version, or of which err says why it cannot. DependsOn lists where the package system
// keeps what it knows of its repositories.
func (p Package) Prediction(version string, dependsOn []string, err error) resource.Prediction {
	x := resource.Prediction{Look: host.Look{Kind: host.RepositoryLook, Name: p.Name, Found: err == nil}, DependsOn: dependsOn, Err: err}
	if err == nil && !p.Ensure.IsVersion() { // else the plan names it already
		x.Caveat = "version " + version
	}
	return x
}

// AddPackagesText adds to what is said of a package what the package system would do
// besides when it installs it: bring what it needs, and remove what is in the way. If n is
// not 1, it is the last of n packages, and for which of them that is done is not known.
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

// PackagesAlong says of n packages that were installed or, with removal, removed together,
// what came and what went with them.
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
		parts = append(parts, fmt.Sprintf("the %d packages took %s along", n, Removed(went)))
	}
	return strings.Join(parts, ", ")
}

// comesWith says what n packages bring.
func comesWith(n int, installs []string) string {
	brings := "with "
	if n > 1 {
		brings = fmt.Sprintf("the %d packages come with ", n)
	}
	return brings + named(installs, "others")
}

// Removed names the packages that go without being asked for. Of very many it names some.
func Removed(names []string) string {
	const most = 12
	names = slices.Sorted(slices.Values(names))
	if more := len(names) - most; more > 1 {
		return fmt.Sprintf("%s and %d others", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

// named names a few, and counts more.
func named(names []string, word string) string {
	const few = 3
	if len(names) > few {
		return fmt.Sprintf("%d %s", len(names), word)
	}
	return strings.Join(slices.Sorted(slices.Values(names)), ", ")
}
