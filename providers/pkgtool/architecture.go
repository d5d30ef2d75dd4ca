package pkgtool

import (
	"slices"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/resource"
)

// AddQualified adds, to the packages installed or removed with others, the wanted names that have
// an architecture, such as nginx:amd64: package managers leave out the machine's own. Plain
// returns a name without its architecture. Names with another architecture are added too, because
// the machine's is not known here.
func AddQualified(wants []resources.Package, list []resource.Prediction, plain func(name string) string) {
	qualified := make(map[string][]string)
	for _, want := range wants {
		if pkg := plain(want.Name); pkg != want.Name && !slices.Contains(qualified[pkg], want.Name) {
			qualified[pkg] = append(qualified[pkg], want.Name)
		}
	}
	if len(qualified) == 0 {
		return
	}
	for i := range list {
		for _, names := range []*[]string{&list[i].Installs, &list[i].Removes} {
			for _, pkg := range slices.Clone(*names) {
				*names = append(*names, qualified[pkg]...)
			}
		}
	}
}
