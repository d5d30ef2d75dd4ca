package rpm

import (
	"slices"

	"github.com/luaccm/ccm/resources"
)

// An Offer is a version of a package in a repository.
type Offer struct {
	EVR
	Arch string
}

// Offers are the available versions of packages, by name and by name with architecture.
type Offers map[string][]Offer

// Add adds an offer of a package.
func (f Offers) Add(name string, o Offer) {
	for _, key := range []string{name, name + "." + o.Arch} {
		f[key] = append(f[key], o)
	}
}

// Versions returns, for each package, the versions that could replace the installed one: those of
// its architecture.
func (f Offers) Versions(wants []resources.Package, haves []resources.PackageState) [][]string {
	list := make([][]string, len(wants))
	for i, want := range wants {
		arch := noarch
		if haves[i].Installed() {
			arch = haves[i].Metadata.Arch
		}
		for _, o := range f[want.Name] {
			if full := o.Full(); (o.Arch == arch || o.Arch == noarch || arch == noarch) && !slices.Contains(list[i], full) {
				list[i] = append(list[i], full)
			}
		}
	}
	return list
}
