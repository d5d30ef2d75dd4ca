//go:build integration

package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/test/dialog"
)

// Versions of the built packages.
const (
	olderVersion = "0.0.1-rc1"
	newerVersion = "0.0.1"
)

// builtPackages builds deb and rpm of both versions, as make package does, into a directory that labs see as
// /opt/ccm/packages.
var builtPackages = sync.OnceValue(func() error {
	for _, version := range []string{olderVersion, newerVersion} {
		cmd := exec.Command("go", "-C", "../../.ci/package", "run", ".", "-formats", "deb,rpm,tar.gz",
			"-out", filepath.Join(binaries, "packages", version), runtime.GOARCH)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "VERSION="+version)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", cmd, err, out)
		}
	}
	return nil
})

// An installer has the commands of a package system.
type installer struct {
	family, format           string
	publish, install, remove string // shell scripts
	installed                string // prints the version
	older, newer             string
}

var (
	installsDeb = installer{
		debian, "deb", "mv /tmp/new/* /srv/ccm-lab/apt/; /srv/ccm-lab/bin/index; apt-get -qq update",
		"apt-get -qq install ccm", "apt-get -qq remove ccm", `dpkg-query -Wf '${Version}' ccm`, "0.0.1~rc1-1", "0.0.1-1",
	}
	installsRPM = installer{
		rhel, "rpm", "mv /tmp/new/* /srv/ccm-lab/rpm/; /srv/ccm-lab/bin/index; dnf -q clean expire-cache",
		"dnf -q -y install ccm", "dnf -q -y remove ccm", `rpm -q --qf '%{VERSION}-%{RELEASE}' ccm`, "0.0.1~rc1-1", "0.0.1-1",
	}
)

// offer puts the packages of a version into the lab's repository.
func (l *lab) offer(x installer, version string) {
	l.t.Helper()
	require.NoError(l.t, builtPackages())
	l.sh("mkdir -p /tmp/new; cp /opt/ccm/packages/" + version + "/*." + x.format + " /tmp/new/; " + x.publish)
}

// siteOfTimer is a site that also keeps ccm up to date.
const siteOfTimer = `
file { "/etc/motd", content = "kept by ccm\n", owner = "root", group = "root", mode = "0644" }
package { "ccm", ensure = "latest" }
`

// TestInstall installs ccm, lets the timer run a site, upgrades and removes it.
func TestInstall(t *testing.T) {
	for name, x := range map[string]installer{"Deb": installsDeb, "Rpm": installsRPM} {
		t.Run(name, func(t *testing.T) {
			l := boot(t, x.family)
			l.offer(x, olderVersion)
			l.sh(x.install)
			l.says(x.older, x.installed)
			require.Contains(t, l.sh("ccm version"), "ccm "+olderVersion+" (go")
			require.Regexp(t, `"commit":"[0-9a-f]{40}","time":"20`, l.sh("ccm version --output json"))
			l.says("disabled\ninactive", "systemctl is-enabled ccm-run.timer || :; systemctl is-active ccm-run.timer || :")
			l.sh("systemd-analyze verify --man=no /usr/lib/systemd/system/ccm-run.timer")
			l.says("root:root 755", "stat -c '%U:%G %a' /etc/ccm")
			require.Contains(t, l.sh("zcat /usr/share/man/man1/ccm-run.1.gz"), `.TH "CCM-RUN" 1`)
			l.sh("bash -c '. /usr/share/bash-completion/completions/ccm; complete -p ccm'")
			require.Regexp(t, `(?m)^ok +service +by systemd$`, l.sh("ccm doctor"))

			// The timer runs the site only after it was enabled.
			l.write("/etc/ccm/site.lua", []byte(siteOfTimer))
			l.sh("! grep -q 'kept by ccm' /etc/motd")
			l.sh(`mkdir -p /etc/systemd/system/ccm-run.timer.d
printf '[Timer]\nOnBootSec=1s\nRandomizedDelaySec=0\nAccuracySec=1s\n' > /etc/systemd/system/ccm-run.timer.d/now.conf
systemctl daemon-reload; systemctl enable -q --now ccm-run.timer`)
			l.until("the first run", "grep -qx 'kept by ccm' /etc/motd && systemctl show -P Result ccm-run.service | grep -qx success && ! systemctl is-active ccm-run.service")
			require.Contains(t, l.sh("ccm history"), "run /etc/ccm/site.lua")
			l.until("the log of the run", "journalctl -q -u ccm-run.service | grep -q 'file#/etc/motd: '")

			// A run that upgrades ccm is completed, and does not change the timer.
			l.offer(x, newerVersion)
			l.sh("systemctl start ccm-run.service")
			l.says(x.newer, x.installed)
			require.Contains(t, l.sh("ccm version"), "ccm "+newerVersion+" (go")
			l.until("the log of the upgrade", "journalctl -q -u ccm-run.service | grep -q 'package#ccm: Upgraded to latest'")
			l.says("enabled\nactive", "systemctl is-enabled ccm-run.timer; systemctl is-active ccm-run.timer")

			// Files of users and records of runs survive the removal of the package. A failed unit does not.
			l.sh("mv /etc/ccm/site.lua /root/; ! systemctl start ccm-run.service; mv /root/site.lua /etc/ccm/; systemctl is-failed ccm-run.service")
			l.sh(x.remove)
			l.says("", "systemctl list-units --failed --plain --no-legend 'ccm-*'")
			l.sh("! test -e /usr/bin/ccm; ! test -e /usr/lib/systemd/system/ccm-run.timer; test -s /etc/ccm/site.lua; test -s /var/lib/ccm/history.ndjson")
			l.says("inactive", "systemctl is-active ccm-run.timer || :")
			l.sh("! test -L /etc/systemd/system/timers.target.wants/ccm-run.timer")
			l.sh(x.install)
			l.says("disabled", "systemctl is-enabled ccm-run.timer || :")
			require.Contains(t, l.sh("ccm history"), "run /etc/ccm/site.lua")
			require.Contains(t, l.sh("ccm run /etc/ccm/site.lua"), "Nothing to do: 2 resources up to date")
			if x.format == "rpm" {
				l.says("", "rpm -V ccm")
				l.sh(x.remove)
				l.sh("test -s /etc/ccm/site.lua; test -s /var/lib/ccm/history.ndjson")
				return
			}
			l.says("", "dpkg --verify ccm")
			l.sh("apt-get -qq purge ccm")
			l.sh("test -s /etc/ccm/site.lua; ! test -e /var/lib/ccm")
		})
	}
}

// TestInstallPage runs the commands of docs/install.md, with a machine for each prompt, in the directory with the
// output of make package.
func TestInstallPage(t *testing.T) {
	nightly(t)
	text, err := os.ReadFile("../../docs/install.md")
	require.NoError(t, err)
	require.NoError(t, builtPackages())
	blocks := dialog.Blocks(string(text))
	for prompt, family := range map[string]string{"debian": debian, "fedora": rhel, "other": arch} {
		t.Run(prompt, func(t *testing.T) {
			l := boot(t, family)
			l.sh("mkdir /root/dist; cp /opt/ccm/packages/" + newerVersion + "/* /root/dist/ 2>/dev/null || :")
			typed := 0
			for _, b := range blocks {
				if strings.HasPrefix(b.File, "/") {
					l.sh("mkdir -p " + filepath.Dir(b.File))
					l.write(b.File, []byte(b.Text))
				}
				if !b.IsDialog() {
					continue
				}
				for _, c := range b.Commands() {
					require.Contains(t, []string{"debian", "fedora", "other"}, c.Prompt, c.Line)
					if c.Prompt != prompt {
						continue
					}
					typed++
					out := l.exec("sh", "-c", "cd /root/dist; exec 2>&1; "+strings.ReplaceAll(c.Line, "amd64", runtime.GOARCH))
					require.Zero(t, out.status, "$ %s\n%s", c.Line, out.stdout)
					require.Regexp(t, c.Answer(), out.stdout, "$ %s", c.Line)
				}
			}
			require.Greater(t, typed, 2)
		})
	}
}
