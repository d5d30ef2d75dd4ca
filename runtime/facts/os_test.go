package facts

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	ghost "github.com/shirou/gopsutil/v4/host"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
)

func TestOSOfDistributions(t *testing.T) {
	for name, d := range distributions {
		t.Run(name, func(t *testing.T) {
			want := maps.Clone(d.os)
			here := get(t, &host.New(host.Options{}).View, "os").(map[string]any)
			want["kernel"], want["arch"] = here["kernel"], here["arch"]
			require.Equal(t, want, get(t, rootWith(t, d.files), "os"))
		})
	}
}

func TestPlatformIsWhatGopsutilSays(t *testing.T) {
	for name, d := range distributions {
		t.Run(name, func(t *testing.T) {
			v := rootWith(t, d.files)
			info := get(t, v, "host.info").(map[string]any)
			for field, want := range d.info {
				require.Equal(t, want, info[field], field)
			}
			require.Equal(t, get(t, v, "os.family"), info["platformFamily"])

			// Without this file it would run a command of the real machine.
			lsb := filepath.Join(v.Root(), "etc/lsb-release")
			if _, err := os.Stat(lsb); err != nil {
				require.NoError(t, os.WriteFile(lsb, nil, 0o644))
			}
			platform, family, version, err := ghost.PlatformInformationWithContext(forGopsutil(t.Context(), v))
			require.NoError(t, err)
			require.Equal(t, d.info, map[string]string{"platform": platform, "platformFamily": family, "platformVersion": version})
		})
	}
}

func TestOSFamilyOfOthers(t *testing.T) {
	for _, c := range []struct{ release, family string }{
		{"ID=pop\nID_LIKE=\"ubuntu debian\"\n", "debian"},
		{"ID=eurolinux\nID_LIKE=\"rhel fedora centos\"\n", "rhel"},
		{"ID=manjaro\nID_LIKE=arch\n", "arch"},
		{"ID=void\n", "void"},
		{"ID=foo\nID_LIKE=\"bar DEBIAN\"\n", "debian"},
		{"NAME=x\n", "linux"}, // os-release(5): ID defaults to linux
	} {
		v := rootWith(t, map[string]string{"/etc/os-release": c.release})
		require.Equal(t, c.family, get(t, v, "os.family"), c.release)
		require.Equal(t, c.family, get(t, v, "host.info.platformFamily"), c.release)
	}
}

func TestOSReleaseNumbers(t *testing.T) {
	for _, c := range []struct {
		release      string
		major, minor any
	}{
		{"12", int64(12), nil},
		{"22.04", int64(22), int64(4)},
		{"3.19.1", int64(3), int64(19)},
		{"7.x", int64(7), nil},
		{"rawhide", nil, nil},
		{"x.1", nil, nil},
		{"-1.2", nil, nil},
		{"99999999999999999999.1", nil, nil},
		{"", nil, nil},
	} {
		v := rootWith(t, map[string]string{"/etc/os-release": "ID=x\nVERSION_ID=\"" + c.release + "\"\n"})
		branch := get(t, v, "os").(map[string]any)
		require.Equal(t, c.major, branch["release_major"], c.release)
		require.Equal(t, c.minor, branch["release_minor"], c.release)
	}
}

func TestOSReleaseIsSecondInUsrLib(t *testing.T) {
	etc := map[string]string{"/etc/os-release": "ID=alpine\n"}
	usr := map[string]string{"/usr/lib/os-release": "ID=debian\n"}
	require.Equal(t, "debian", get(t, rootWith(t, usr), "os.id"))
	require.Equal(t, "alpine", get(t, rootWith(t, usr, etc), "os.id"))
}

func TestOSReleaseBehindALink(t *testing.T) {
	v := rootWith(t, map[string]string{"/usr/lib/os-release": "ID=arch\n", "/etc/hostname": "x\n"})
	require.NoError(t, os.Symlink("/usr/lib/os-release", filepath.Join(v.Root(), "etc/os-release")))
	require.Equal(t, "arch", get(t, v, "os.id"), "an absolute link stays inside the root")
}

func TestOSReleaseWithLinesThatCannotBeRead(t *testing.T) {
	v := rootWith(t, map[string]string{"/etc/os-release": "ID=debian\n=nonsense\nNAME='a \"b\"'\nPRETTY_NAME=\"c \\\"d\\\"\"\n"})
	require.Equal(t, "debian", get(t, v, "os.id"))
	require.Equal(t, `a "b"`, get(t, v, "os.name"))
	require.Equal(t, `c "d"`, get(t, v, "os.pretty_name"))
	requireAbsent(t, v, "os.release")
}

func TestOSWithoutRelease(t *testing.T) {
	// A system without release files, seen as the machine itself.
	release, err := readRelease(rootWith(t, map[string]string{"/etc/hostname": "x\n"}))
	require.NoError(t, err)
	require.Nil(t, release)
}

func TestRootWithoutSystemHasTheFactsOfThisMachine(t *testing.T) {
	here := &host.New(host.Options{}).View
	empty := rootWith(t, map[string]string{"/etc/hostname": "elsewhere\n", "/etc/motd": "hi\n"})
	for _, path := range []string{"os", "hostname", "fqdn", "kernel", "virtual"} {
		require.Equal(t, get(t, here, path), get(t, empty, path), path)
	}
}

func TestUnreadableReleaseIsAnErrorOfItsBranch(t *testing.T) {
	v := rootWith(t, map[string]string{"/proc/sys/kernel/hostname": "web1\n"})
	require.NoError(t, os.MkdirAll(filepath.Join(v.Root(), "etc/os-release"), 0o755)) // a directory cannot be read
	f := New(t.Context(), v, Standard(), nil)
	_, err := f.Get("os.family")
	require.ErrorContains(t, err, "fact os: ")
	require.ErrorContains(t, err, "found a directory")
	tree, err := f.Tree()
	require.ErrorContains(t, err, "fact os: ")
	require.NotContains(t, tree, "os")
	require.Equal(t, "web1", tree["hostname"])
}

func TestKernel(t *testing.T) {
	v := rootWith(t, map[string]string{
		"/proc/sys/kernel/ostype": "Linux\n", "/proc/sys/kernel/osrelease": "6.1.0-18-amd64\n",
		"/proc/sys/kernel/version": "#1 SMP Debian\n", "/etc/os-release": "ID=debian\n",
	})
	k := get(t, v, "kernel").(map[string]any)
	require.Equal(t, "Linux", k["name"])
	require.Equal(t, "6.1.0-18-amd64", k["release"])
	require.Equal(t, "#1 SMP Debian", k["version"])
	require.Equal(t, "6.1.0-18-amd64", get(t, v, "os.kernel"))
	require.Equal(t, "6.1.0-18-amd64", get(t, v, "host.info.kernelVersion"))
	require.Equal(t, k["machine"], get(t, v, "host.info.kernelArch"))
}

func TestGoArch(t *testing.T) {
	for machine, want := range map[string]string{
		"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm", "armv8l": "arm", "i686": "386",
		"riscv64": "riscv64", "ppc64le": "ppc64le", "s390x": "s390x", "loongarch64": "loong64",
	} {
		require.Equal(t, want, goArch(machine), machine)
	}
	if runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64" {
		require.Equal(t, runtime.GOARCH, get(t, &host.New(host.Options{}).View, "os.arch"))
	}
}
