package rpm

import (
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
)

const noarch = "noarch"

// architectures lists the words that rpm takes for an architecture at the end of a name. Any
// other word after a dot is part of the name, as in python3.11.
var architectures = []string{
	noarch, "x86_64", "i386", "i486", "i586", "i686", "aarch64", "armv7hl", "armv7l",
	"ppc64le", "ppc64", "s390x", "riscv64", "loongarch64", "mips64el", "src",
}

const alnum = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// CheckName returns an error if dnf would not take s for a package name.
func CheckName(s string) error {
	if s == "" || !strings.Contains(alnum+"_", s[:1]) || strings.Trim(s, alnum+"._+-") != "" {
		return diag.Expected("the name of an rpm package such as zsh or glibc.i686").Got("%q", s)
	}
	return nil
}

// Spec returns a package in the syntax of dnf: name-version if a version is given. An
// architecture comes last, and dnf recognizes it there only after a release.
func Spec(pkg, version string) (string, error) {
	if err := CheckName(pkg); err != nil || version == "" {
		return pkg, err
	}
	desired, err := ParseEVR(version)
	if err != nil {
		return "", err
	}
	name := WithoutArch(pkg)
	if name == pkg {
		return pkg + "-" + version, nil
	}
	if desired.Release == "" {
		version += "-*"
	}
	return name + "-" + version + pkg[len(name):], nil
}

// NameOf returns the package name in a NEVRA.
func NameOf(nevra string) string {
	name := nevra
	for range 2 { // the release with the architecture, then the version
		name = name[:max(0, strings.LastIndexByte(name, '-'))]
	}
	return name
}

// WithoutArch returns the name of a package without the architecture at its end.
func WithoutArch(pkg string) string {
	if i := strings.LastIndexByte(pkg, '.'); i >= 0 && slices.Contains(architectures, pkg[i+1:]) {
		return pkg[:i]
	}
	return pkg
}
