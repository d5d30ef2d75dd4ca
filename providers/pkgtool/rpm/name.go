package rpm

import (
	"fmt"
	"slices"
	"strings"
)

const noarch = "noarch"

// architectures lists the words that rpm takes for an architecture at the end of
// a name. Any other word after a dot belongs to the name, as in python3.11.
var architectures = []string{
	noarch, "x86_64", "i386", "i486", "i586", "i686", "aarch64", "armv7hl", "armv7l",
	"ppc64le", "ppc64", "s390x", "riscv64", "loongarch64", "mips64el", "src",
}

const alnum = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// CheckName reports what dnf would not take for the name of a package.
func CheckName(s string) error {
	if s == "" || !strings.Contains(alnum+"_", s[:1]) || strings.Trim(s, alnum+"._+-") != "" {
		return fmt.Errorf("want the name of an rpm package such as zsh or glibc.i686, got %q", s)
	}
	return nil
}

// Spec returns how dnf is told which package to install: name-version where a
// version is given. An architecture goes to the end, and dnf reads it there
// only after a release.
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

// NameOf returns the name of the package that a NEVRA is of.
func NameOf(nevra string) string {
	name := nevra
	for range 2 { // the release with the architecture, and the version
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
