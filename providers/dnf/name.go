package dnf

import (
	"fmt"
	"slices"
	"strings"

	"github.com/luaccm/ccm/resources"
)

const noarch = "noarch"

// architectures lists the words that rpm takes for an architecture at the end of
// a name. Any other word after a dot belongs to the name, as in python3.11.
var architectures = []string{
	noarch, "x86_64", "i386", "i486", "i586", "i686", "aarch64", "armv7hl", "armv7l",
	"ppc64le", "ppc64", "s390x", "riscv64", "loongarch64", "mips64el", "src",
}

const alnum = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// checkName reports what dnf would not take for the name of a package.
func checkName(s string) error {
	if s == "" || !strings.Contains(alnum+"_", s[:1]) || strings.Trim(s, alnum+"._+-") != "" {
		return fmt.Errorf("want the name of an rpm package such as zsh or glibc.i686, got %q", s)
	}
	return nil
}

// specOf returns how dnf is told which package to install: name-version where a
// version is wished. An architecture goes to the end, and dnf reads it there
// only after a release.
func specOf(pkg, version string) (string, error) {
	if err := checkName(pkg); err != nil {
		return "", err
	}
	if !resources.PackageEnsure(version).IsVersion() {
		return pkg, nil
	}
	wish, err := parseEVR(version)
	if err != nil {
		return "", err
	}
	i := strings.LastIndexByte(pkg, '.')
	if i < 0 || !slices.Contains(architectures, pkg[i+1:]) {
		return pkg + "-" + version, nil
	}
	if wish.release == "" {
		version += "-*"
	}
	return pkg[:i] + "-" + version + pkg[i:], nil
}
