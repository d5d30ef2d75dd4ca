package facts

import (
	"context"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
)

// packageManagers lists how to recognize package managers: by a command, and by the families of
// distributions that have it as their own. If two match, the first is the better one.
var packageManagers = []struct{ name, command, families string }{
	{"apt", "/usr/bin/apt-get", "debian"},
	{"dnf", "/usr/bin/dnf", "rhel fedora"},
	{"yum", "/usr/bin/yum", "rhel fedora"},
	{"microdnf", "/usr/bin/microdnf", "rhel fedora"},
	{"zypper", "/usr/bin/zypper", "suse"},
	{"pacman", "/usr/bin/pacman", "arch"},
	{"apk", "/sbin/apk", "alpine"},
	{"emerge", "/usr/bin/emerge", "gentoo"},
	{"xbps", "/usr/bin/xbps-install", "void"},
}

func gatherPackageManager(_ context.Context, v *host.View) (any, error) {
	name, err := packageManager(installed(v))
	return orAbsent(name), err
}

// packageManager returns the installed package manager that belongs to the
// family of the distribution, else the first that is installed, else "".
func packageManager(v *host.View) (string, error) {
	release, err := readRelease(v)
	if err != nil {
		return "", err
	}
	fam, first := family(release), ""
	for _, m := range packageManagers {
		there, err := v.Exists(m.command)
		if err != nil {
			return "", err
		}
		switch {
		case !there:
		case slices.Contains(strings.Fields(m.families), fam):
			return m.name, nil
		case first == "":
			first = m.name
		}
	}
	return first, nil
}
