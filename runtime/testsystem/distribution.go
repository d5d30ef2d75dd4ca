package testsystem

import (
	"slices"
	"strings"
)

// A distribution can be installed into a directory, and is the base of a container image.
type distribution struct {
	name string
	// releases are the code names by number, of Debian's family. Any number is a release of the others.
	releases map[string]string
	// image is the name of its container image, without the release.
	image string
	// rpm means that dnf installs it.
	rpm     bool
	example string
}

var distributions = []distribution{
	{name: "debian", image: "debian", example: "12", releases: map[string]string{"11": "bullseye", "12": "bookworm", "13": "trixie"}},
	{name: "ubuntu", image: "ubuntu", example: "24.04", releases: map[string]string{"22.04": "jammy", "24.04": "noble"}},
	{name: "rocky", image: "rockylinux", rpm: true, example: "9"},
	{name: "alma", image: "almalinux", rpm: true, example: "9"},
	{name: "fedora", image: "fedora", rpm: true, example: "42"},
}

func distributionOf(name string) distribution {
	i := slices.IndexFunc(distributions, func(d distribution) bool { return d.name == name })
	return distributions[i]
}

func exampleOf(name string) string { return distributionOf(name).example }

// codeName returns the name of a release that mmdebstrap knows.
func (d distribution) codeName(release string) (string, error) {
	if name, ok := d.releases[release]; ok {
		return name, nil
	}
	var known []string
	for number, name := range d.releases {
		if name == release {
			return name, nil
		}
		known = append(known, number)
	}
	slices.Sort(known)
	return "", unknown("release of "+d.name, release, known, strings.Join(known, ", "))
}

// debPackages and rpmPackages make a minimal system one that boots, and in which the usual commands are.
var (
	debPackages = []string{"systemd", "systemd-sysv", "dbus", "ca-certificates", "iproute2", "procps", "apt-utils"}
	rpmPackages = []string{"systemd", "dbus-broker", "dnf", "ca-certificates", "iproute", "procps-ng", "findutils", "util-linux", "passwd"}
)
