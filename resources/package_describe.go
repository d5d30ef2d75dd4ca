package resources

import (
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
)

var (
	_ resource.Describer         = PackageState{}
	_ resource.Importer[Package] = PackageState{}
)

// Describe implements resource.Describer.
func (s PackageState) Describe(name, provider string) any {
	if m := s.Metadata; m.Name != "" {
		return m
	}
	return PackageMetadata{Name: name, Provider: provider}
}

// Import implements resource.Importer: any version of the package is desired.
func (s PackageState) Import(im resource.Import) (Package, error) {
	p := Package{Name: im.Name, Ensure: PackagePresent}
	if !s.Installed() {
		if s.Problem != "" {
			return p, diag.Expected("an installed package").Found("it %s", s.Problem)
		}
		return p, diag.Not("", "installed")
	}
	return p, nil
}
