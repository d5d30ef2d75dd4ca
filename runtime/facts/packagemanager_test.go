package facts

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPackageManager(t *testing.T) {
	const debian, rocky, void = "ID=debian\n", "ID=rocky\nID_LIKE=\"rhel centos fedora\"\n", "ID=void\n"
	for _, c := range []struct {
		release  string
		commands []string
		want     string
	}{
		{debian, []string{"/usr/bin/apt-get"}, "apt"},
		{debian, []string{"/usr/bin/apt-get", "/usr/bin/dnf"}, "apt"},
		{rocky, []string{"/usr/bin/apt-get", "/usr/bin/dnf", "/usr/bin/yum"}, "dnf"},
		{rocky, []string{"/usr/bin/yum"}, "yum"},
		{rocky, []string{"/usr/bin/microdnf"}, "microdnf"},
		{"ID=opensuse-leap\n", []string{"/usr/bin/zypper"}, "zypper"},
		{"ID=manjaro\nID_LIKE=arch\n", []string{"/usr/bin/pacman"}, "pacman"},
		{"ID=alpine\n", []string{"/sbin/apk"}, "apk"},
		{"ID=gentoo\n", []string{"/usr/bin/emerge"}, "emerge"},
		{void, []string{"/usr/bin/xbps-install"}, "xbps"},
		{void, []string{"/usr/bin/pacman"}, "pacman"}, // of another family, but there
	} {
		files := map[string]string{"/etc/os-release": c.release}
		for _, name := range c.commands {
			files[name] = ""
		}
		require.Equal(t, c.want, get(t, rootWith(t, files), "package_manager"), "%s%s", c.release, c.commands)
	}
	requireAbsent(t, rootWith(t, map[string]string{"/etc/os-release": debian}), "package_manager")
}

func TestPackageManagerBehindALink(t *testing.T) {
	v := rootWith(t, map[string]string{"/etc/os-release": "ID=fedora\n", "/usr/bin/dnf5": ""})
	require.NoError(t, os.Symlink("dnf5", filepath.Join(v.Root(), "usr/bin/dnf")))
	require.Equal(t, "dnf", get(t, v, "package_manager"))
}
