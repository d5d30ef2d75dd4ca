package facts

import (
	"strings"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/lazyregexp"
)

// readRelease returns the distribution's description (os-release(5)), nil if there is none.
func readRelease(v *host.View) (map[string]string, error) {
	text, err := firstText(v, releaseFiles...)
	if text == "" || err != nil {
		return nil, err
	}
	// A line that cannot be read says nothing; the others still do.
	vars, _ := ParseEnv(releaseFiles[0], text)
	for key, val := range map[string]string{"ID": "linux", "NAME": "Linux"} {
		if vars[key] == "" {
			vars[key] = val
		}
	}
	return vars, nil
}

// familyOf returns the family of a distribution that gives one its name or does
// not say which it is like, and else "". The names of the families are
// gopsutil's.
func familyOf(id string) string {
	switch id {
	case "debian", "ubuntu", "linuxmint", "raspbian", "kylin", "cumulus-linux", "uos", "deepin":
		return "debian"
	case "rhel", "centos", "rocky", "almalinux", "ol", "amzn", "scientific", "cloudlinux", "xenenterprise":
		return "rhel"
	case "suse", "opensuse", "opensuse-leap", "opensuse-tumbleweed", "sles", "sled", "caasp":
		return "suse"
	case "fedora", "arch", "alpine", "gentoo", "slackware", "exherbo", "coreos", "solus", "neokylin", "anolis", "nixos":
		return id
	}
	return ""
}

// family returns the family of a distribution: its own, else that of the first distribution in ID_LIKE, else its own
// ID.
func family(release map[string]string) string {
	for _, id := range append([]string{release["ID"]}, strings.Fields(release["ID_LIKE"])...) {
		if f := familyOf(strings.ToLower(id)); f != "" {
			return f
		}
	}
	return release["ID"]
}

// platform returns the name and the version of the distribution as gopsutil
// gives them. gopsutil itself cannot be asked: it would run lsb_release, and
// look outside the root.
func platform(v *host.View, release map[string]string) (name, version string, err error) {
	id, fam := release["ID"], family(release)
	switch fam {
	case "debian":
		return debianPlatform(v, release)
	case "arch":
		return fam, release["VERSION_ID"], nil
	case "rhel", "fedora":
		version, err = redhatVersion(v)
	}
	if version == "" {
		version = release["VERSION_ID"]
	}
	switch id {
	case "rhel":
		return "redhat", version, err
	case "ol":
		return "oracle", version, err
	case "amzn":
		return "amazon", version, err
	case "xenenterprise":
		return "xenserver", version, err
	}
	return id, version, err
}

// debianPlatform distinguishes distributions with their own versions from those that are Debian under another name.
func debianPlatform(v *host.View, release map[string]string) (name, version string, err error) {
	switch id := release["ID"]; id {
	case "ubuntu", "linuxmint", "uos":
		return id, release["VERSION_ID"], nil
	case "kylin", "deepin":
		return strings.ToUpper(id[:1]) + id[1:], release["VERSION_ID"], nil
	case "cumulus-linux":
		return "cumuluslinux", release["VERSION_ID"], nil
	}
	name = "debian"
	pi, err := v.Exists("/usr/bin/raspi-config")
	if err != nil {
		return "", "", err
	}
	if pi {
		name = "raspbian"
	}
	version, err = readText(v, "/etc/debian_version")
	if version == "" {
		version = release["VERSION_ID"]
	}
	return name, version, err
}

var redhatRelease = lazyregexp.New(`release (\w[\d.]*)`)

// redhatVersion returns the version in the file that Red Hat's family keeps
// beside os-release: it has the minor version that CentOS leaves out there.
func redhatVersion(v *host.View) (string, error) {
	text, err := firstText(v, "/etc/oracle-release", "/etc/redhat-release", "/etc/system-release")
	text = strings.ToLower(text)
	if strings.Contains(text, "rawhide") {
		return "rawhide", err
	}
	if m := redhatRelease().FindStringSubmatch(text); m != nil {
		return m[1], err
	}
	return "", err
}
