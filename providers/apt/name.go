package apt

import (
	"strings"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
)

// A name is the name of a package, with an architecture if the user gave one. Without, it means
// the package in any installed architecture.
type name struct{ pkg, arch string }

const alnum = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// parseName reads zsh or libc6:i386. It refuses names with a special meaning for apt, such as a
// trailing hyphen, which removes the package.
func parseName(s string) (name, error) {
	pkg, arch, qualified := strings.Cut(s, ":")
	switch {
	// dpkg itself allows capitals and underscores, although the policy does not. No package has a
	// ~ in its name, but the type allows one; apt takes it for a pattern only at the beginning.
	case len(pkg) < 2 || !strings.Contains(alnum, pkg[:1]) || strings.Trim(pkg, alnum+"+._~-") != "",
		qualified && (arch == "" || strings.Trim(arch, alnum+"-") != ""):
		return name{}, diag.Expected("the name of a Debian package such as zsh or libc6:i386").Got("%q", s)
	case strings.HasSuffix(pkg, "-"):
		return name{}, diag.Expected("the name of a Debian package").Got("%q: apt would read the trailing hyphen as a removal", s)
	case arch == "any" || arch == "native":
		return name{}, diag.Expected("an architecture such as amd64").Got("%q", arch)
	}
	return name{pkg, arch}, nil
}

// parseNames returns the names of packages.
func parseNames(wants []resources.Package) ([]name, error) {
	names := make([]name, len(wants))
	for i, want := range wants {
		n, err := parseName(want.Name)
		if err != nil {
			return nil, err
		}
		names[i] = n
	}
	return names, nil
}

// pkgsOf returns the names without their architectures.
func pkgsOf(names []name) []string {
	pkgs := make([]string, len(names))
	for i, n := range names {
		pkgs[i] = n.pkg
	}
	return pkgs
}

// String formats n as dpkg and apt read it.
func (n name) String() string {
	if n.arch == "" {
		return n.pkg
	}
	return n.pkg + ":" + n.arch
}

// withoutArch returns a name without its architecture.
func withoutArch(s string) string {
	pkg, _, _ := strings.Cut(s, ":")
	return pkg
}
