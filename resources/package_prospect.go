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
	return p.Ensure != PackageAbsent && (!have.Installed() || p.Ensure != PackagePresent && have.Order != 0)
}

// Prospect is what a plan tells of a package that the package system can install in that
// version, or of which err says why it cannot. HangsOn lists where the package system
// keeps what it knows of its repositories.
func (p Package) Prospect(version string, hangsOn []string, err error) resource.Prospect {
	x := resource.Prospect{Look: host.Look{Kind: host.RepositoryLook, Name: p.Name, Found: err == nil}, DependsOn: hangsOn, Err: err}
	if err == nil && !p.Ensure.IsVersion() { // else the plan names it already
		x.Caveat = "version " + version
	}
	return x
}

// PackagesBesides adds to what is said of the last of n packages what the package system
// would do besides when it installs them: bring what they need, and remove what is in the
// way. Which of them that is for is not known.
func PackagesBesides(caveat string, n int, installs, removes []string) string {
	var parts []string
	if caveat != "" {
		parts = append(parts, caveat)
	}
	brings := "with "
	if n > 1 {
		brings = fmt.Sprintf("the %d packages come with ", n)
	}
	if len(installs) > 0 {
		parts = append(parts, brings+named(installs, "others"))
	}
	if len(removes) > 0 {
		parts = append(parts, "removes "+named(removes, "packages"))
	}
	return strings.Join(parts, ", ")
}

// named names a few, and counts more.
func named(names []string, word string) string {
	const few = 3
	if len(names) > few {
		return fmt.Sprintf("%d %s", len(names), word)
	}
	return strings.Join(slices.Sorted(slices.Values(names)), ", ")
}
