package facts

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// A distribution is a root with release files, and the expected facts.
type distribution struct {
	files map[string]string
	os    map[string]any    // but kernel and arch, which are those of this machine
	info  map[string]string // platform, platformFamily, platformVersion
}

// distributions holds the release files of real systems.
var distributions = map[string]distribution{
	"Debian 12": {
		files: map[string]string{
			"/etc/os-release": `PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"
NAME="Debian GNU/Linux"
VERSION_ID="12"
VERSION="12 (bookworm)"
VERSION_CODENAME=bookworm
ID=debian
HOME_URL="https://www.debian.org/"
`,
			"/etc/debian_version": "12.5\n",
		},
		os: map[string]any{
			"name": "Debian GNU/Linux", "family": "debian", "id": "debian", "id_like": []any{},
			"release": "12", "release_major": int64(12), "codename": "bookworm", "pretty_name": "Debian GNU/Linux 12 (bookworm)",
		},
		info: map[string]string{"platform": "debian", "platformFamily": "debian", "platformVersion": "12.5"},
	},
	"Debian unstable, without a release": {
		files: map[string]string{
			"/etc/os-release":     "PRETTY_NAME=\"Debian GNU/Linux trixie/sid\"\nNAME=\"Debian GNU/Linux\"\nVERSION_CODENAME=trixie\nID=debian\n",
			"/etc/debian_version": "trixie/sid\n",
		},
		os: map[string]any{
			"name": "Debian GNU/Linux", "family": "debian", "id": "debian", "id_like": []any{},
			"codename": "trixie", "pretty_name": "Debian GNU/Linux trixie/sid",
		},
		info: map[string]string{"platform": "debian", "platformFamily": "debian", "platformVersion": "trixie/sid"},
	},
	"Ubuntu 22.04": {
		files: map[string]string{
			"/etc/os-release": `PRETTY_NAME="Ubuntu 22.04.3 LTS"
NAME="Ubuntu"
VERSION_ID="22.04"
VERSION="22.04.3 LTS (Jammy Jellyfish)"
VERSION_CODENAME=jammy
ID=ubuntu
ID_LIKE=debian
UBUNTU_CODENAME=jammy
`,
			"/etc/lsb-release":    "DISTRIB_ID=Ubuntu\nDISTRIB_RELEASE=22.04\nDISTRIB_CODENAME=jammy\nDISTRIB_DESCRIPTION=\"Ubuntu 22.04.3 LTS\"\n",
			"/etc/debian_version": "bookworm/sid\n",
		},
		os: map[string]any{
			"name": "Ubuntu", "family": "debian", "id": "ubuntu", "id_like": []any{"debian"},
			"release": "22.04", "release_major": int64(22), "release_minor": int64(4), "codename": "jammy", "pretty_name": "Ubuntu 22.04.3 LTS",
		},
		info: map[string]string{"platform": "ubuntu", "platformFamily": "debian", "platformVersion": "22.04"},
	},
	"Kali, which is Debian under another name": {
		files: map[string]string{
			"/etc/os-release":     "PRETTY_NAME=\"Kali GNU/Linux Rolling\"\nNAME=\"Kali GNU/Linux\"\nVERSION_ID=\"2024.1\"\nVERSION_CODENAME=kali-rolling\nID=kali\nID_LIKE=debian\n",
			"/etc/debian_version": "kali-rolling\n",
		},
		os: map[string]any{
			"name": "Kali GNU/Linux", "family": "debian", "id": "kali", "id_like": []any{"debian"},
			"release": "2024.1", "release_major": int64(2024), "release_minor": int64(1), "codename": "kali-rolling", "pretty_name": "Kali GNU/Linux Rolling",
		},
		info: map[string]string{"platform": "debian", "platformFamily": "debian", "platformVersion": "kali-rolling"},
	},
	"Rocky 9": {
		files: map[string]string{
			"/etc/os-release": `NAME="Rocky Linux"
VERSION="9.3 (Blue Onyx)"
ID="rocky"
ID_LIKE="rhel centos fedora"
VERSION_ID="9.3"
PLATFORM_ID="platform:el9"
PRETTY_NAME="Rocky Linux 9.3 (Blue Onyx)"
ANSI_COLOR="0;32"
`,
			"/etc/redhat-release": "Rocky Linux release 9.3 (Blue Onyx)\n",
		},
		os: map[string]any{
			"name": "Rocky Linux", "family": "rhel", "id": "rocky", "id_like": []any{"rhel", "centos", "fedora"},
			"release": "9.3", "release_major": int64(9), "release_minor": int64(3), "pretty_name": "Rocky Linux 9.3 (Blue Onyx)",
		},
		info: map[string]string{"platform": "rocky", "platformFamily": "rhel", "platformVersion": "9.3"},
	},
	"CentOS 7, whose minor version is not in os-release": {
		files: map[string]string{
			"/etc/os-release":     "NAME=\"CentOS Linux\"\nVERSION=\"7 (Core)\"\nID=\"centos\"\nID_LIKE=\"rhel fedora\"\nVERSION_ID=\"7\"\nPRETTY_NAME=\"CentOS Linux 7 (Core)\"\n",
			"/etc/redhat-release": "CentOS Linux release 7.9.2009 (Core)\n",
		},
		os: map[string]any{
			"name": "CentOS Linux", "family": "rhel", "id": "centos", "id_like": []any{"rhel", "fedora"},
			"release": "7", "release_major": int64(7), "pretty_name": "CentOS Linux 7 (Core)",
		},
		info: map[string]string{"platform": "centos", "platformFamily": "rhel", "platformVersion": "7.9.2009"},
	},
	"Red Hat 8": {
		files: map[string]string{
			"/etc/os-release":     "NAME=\"Red Hat Enterprise Linux\"\nID=\"rhel\"\nID_LIKE=\"fedora\"\nVERSION_ID=\"8.9\"\nPRETTY_NAME=\"Red Hat Enterprise Linux 8.9 (Ootpa)\"\n",
			"/etc/redhat-release": "Red Hat Enterprise Linux release 8.9 (Ootpa)\n",
		},
		os: map[string]any{
			"name": "Red Hat Enterprise Linux", "family": "rhel", "id": "rhel", "id_like": []any{"fedora"},
			"release": "8.9", "release_major": int64(8), "release_minor": int64(9), "pretty_name": "Red Hat Enterprise Linux 8.9 (Ootpa)",
		},
		info: map[string]string{"platform": "redhat", "platformFamily": "rhel", "platformVersion": "8.9"},
	},
	"Oracle 9": {
		files: map[string]string{
			"/etc/os-release":     "NAME=\"Oracle Linux Server\"\nID=\"ol\"\nID_LIKE=\"fedora\"\nVERSION_ID=\"9.3\"\nPRETTY_NAME=\"Oracle Linux Server 9.3\"\n",
			"/etc/oracle-release": "Oracle Linux Server release 9.3\n",
			"/etc/redhat-release": "Red Hat Enterprise Linux release 9.3 (Plow)\n",
		},
		os: map[string]any{
			"name": "Oracle Linux Server", "family": "rhel", "id": "ol", "id_like": []any{"fedora"},
			"release": "9.3", "release_major": int64(9), "release_minor": int64(3), "pretty_name": "Oracle Linux Server 9.3",
		},
		info: map[string]string{"platform": "oracle", "platformFamily": "rhel", "platformVersion": "9.3"},
	},
	"Amazon 2023": {
		files: map[string]string{
			"/etc/os-release":     "NAME=\"Amazon Linux\"\nVERSION=\"2023\"\nID=\"amzn\"\nID_LIKE=\"fedora\"\nVERSION_ID=\"2023\"\nPRETTY_NAME=\"Amazon Linux 2023\"\n",
			"/etc/system-release": "Amazon Linux release 2023 (Amazon Linux)\n",
		},
		os: map[string]any{
			"name": "Amazon Linux", "family": "rhel", "id": "amzn", "id_like": []any{"fedora"},
			"release": "2023", "release_major": int64(2023), "pretty_name": "Amazon Linux 2023",
		},
		info: map[string]string{"platform": "amazon", "platformFamily": "rhel", "platformVersion": "2023"},
	},
	"Fedora": {
		files: map[string]string{
			"/etc/os-release":     "NAME=\"Fedora Linux\"\nVERSION=\"39 (Server Edition)\"\nID=fedora\nVERSION_ID=39\nVERSION_CODENAME=\"\"\nPRETTY_NAME=\"Fedora Linux 39 (Server Edition)\"\n",
			"/etc/redhat-release": "Fedora release 39 (Thirty Nine)\n",
		},
		os: map[string]any{
			"name": "Fedora Linux", "family": "fedora", "id": "fedora", "id_like": []any{},
			"release": "39", "release_major": int64(39), "pretty_name": "Fedora Linux 39 (Server Edition)",
		},
		info: map[string]string{"platform": "fedora", "platformFamily": "fedora", "platformVersion": "39"},
	},
	"Alpine": {
		files: map[string]string{
			"/etc/os-release":     "NAME=\"Alpine Linux\"\nID=alpine\nVERSION_ID=3.19.1\nPRETTY_NAME=\"Alpine Linux v3.19\"\n",
			"/etc/alpine-release": "3.19.1\n",
		},
		os: map[string]any{
			"name": "Alpine Linux", "family": "alpine", "id": "alpine", "id_like": []any{},
			"release": "3.19.1", "release_major": int64(3), "release_minor": int64(19), "pretty_name": "Alpine Linux v3.19",
		},
		info: map[string]string{"platform": "alpine", "platformFamily": "alpine", "platformVersion": "3.19.1"},
	},
	"Arch": {
		files: map[string]string{
			"/etc/os-release":   "NAME=\"Arch Linux\"\nPRETTY_NAME=\"Arch Linux\"\nID=arch\nBUILD_ID=rolling\n",
			"/etc/arch-release": "Arch Linux release\n",
		},
		os: map[string]any{
			"name": "Arch Linux", "family": "arch", "id": "arch", "id_like": []any{}, "pretty_name": "Arch Linux",
		},
		info: map[string]string{"platform": "arch", "platformFamily": "arch", "platformVersion": ""},
	},
	"openSUSE": {
		files: map[string]string{
			"/etc/os-release": `NAME="openSUSE Leap"
VERSION="15.5"
ID="opensuse-leap"
ID_LIKE="suse opensuse"
VERSION_ID="15.5"
PRETTY_NAME="openSUSE Leap 15.5"
`,
		},
		os: map[string]any{
			"name": "openSUSE Leap", "family": "suse", "id": "opensuse-leap", "id_like": []any{"suse", "opensuse"},
			"release": "15.5", "release_major": int64(15), "release_minor": int64(5), "pretty_name": "openSUSE Leap 15.5",
		},
		info: map[string]string{"platform": "opensuse-leap", "platformFamily": "suse", "platformVersion": "15.5"},
	},
}

// rootWith returns a view of a fresh root that holds the files.
func rootWith(t *testing.T, files ...map[string]string) *host.View {
	t.Helper()
	h, _ := hosttest.New(t, &hosttest.Runner{})
	return withFiles(t, &h.View, files...)
}

// withFiles writes files below the root of a view and returns the view.
func withFiles(t *testing.T, v *host.View, files ...map[string]string) *host.View {
	t.Helper()
	for _, m := range files {
		for name, text := range m {
			path := filepath.Join(v.Root(), name)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		}
	}
	return v
}

// get gathers and returns the fact at a path.
func get(t *testing.T, v *host.View, path string) any {
	t.Helper()
	val, err := New(t.Context(), v, Standard(), nil).Get(path)
	require.NoError(t, err)
	return val
}

// requireAbsent fails unless there is no fact at the path.
func requireAbsent(t *testing.T, v *host.View, path string) {
	t.Helper()
	_, err := New(t.Context(), v, Standard(), nil).Get(path)
	var nf *NotFoundError
	require.ErrorAs(t, err, &nf)
	require.Equal(t, path, nf.Path)
}
