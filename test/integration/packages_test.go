//go:build integration

package integration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A packageSystem has the differences between the labs of the tests in this file.
type packageSystem struct {
	family  string
	suffix  string // suffix of names of packages
	release string // release in versions
	history string // prints the command lines of all transactions
	broken  string // the reason why ccm-demo-broken cannot be installed
}

var packageSystems = map[string]packageSystem{
	"Apt":    {debian, "", "", `sed -n 's/^Commandline: apt-get install .*Timeout=600 /install /p' /var/log/apt/history.log`, "ccm-demo-broken: p"},
	"Dnf":    {rhel, "-rpm", "-1.lab", `for i in $(dnf history list | awk '/^ *[0-9]/ {print $1}' | sort -n); do dnf history info $i | sed -n 's/^Command Line *: //p'; done`, "ccm-demo-broken: p"},
	"Zypper": {suse, "-rpm", "-1.lab", `awk -F'|' '$2 ~ /command/ {gsub("\047", "", $4); print $4}' /var/log/zypp/history`, "ccm-demo-broken: p"},
	"Pacman": {arch, "-pac", "-1", `sed -n "s/.*Running 'pacman -S --noconfirm/install/p" /var/log/pacman.log`, "ccm-demo-broken: /etc/passwd exists in filesystem"},
}

// name returns the name of a package in a lab.
func (s packageSystem) name(name string) string {
	return strings.ReplaceAll(name, "ccm-demo", "ccm-demo"+s.suffix)
}

// site writes a site, in which ccm-demo is the package of the system.
func (l *lab) site(s packageSystem, format string, args ...any) {
	l.t.Helper()
	l.write("/root/site.lua", []byte(s.name(fmt.Sprintf(format, args...))))
}

// packageTests runs a test in a lab of each package system.
func packageTests(t *testing.T, test func(l *lab, s packageSystem)) {
	for name, s := range packageSystems {
		t.Run(name, func(t *testing.T) { test(boot(t, s.family), s) })
	}
}

// Consecutive packages are installed and removed in one transaction. If it fails, each is installed alone, and only
// the broken one fails.
func TestPackagesTogether(t *testing.T) {
	packageTests(t, func(l *lab, s packageSystem) {
		l.site(s, `package { "ccm-demo", "ccm-demo-service", "ccm-demo-dep" }`)
		l.says(s.name("+ package#ccm-demo: Installed\n+ package#ccm-demo-service: Installed\n+ package#ccm-demo-dep: Installed"),
			"/opt/ccm/ccm run /root/site.lua | sed -n 's/^\\(+.*Installed\\) (version [12][.]0.*/\\1/p'")
		history := l.sh(s.history)
		require.Equal(l.t, 1, strings.Count(history, "install"), history)
		require.Contains(l.t, history, s.name("ccm-demo ccm-demo-service ccm-demo-dep"))

		l.site(s, `package { "ccm-demo", "ccm-demo-service", "ccm-demo-dep", ensure = "absent" }`)
		require.Contains(l.t, l.sh("/opt/ccm/ccm plan /root/site.lua"), s.name("- package#ccm-demo-dep: Would have uninstalled"), "although ccm-demo takes it along")
		l.says("3", "/opt/ccm/ccm run /root/site.lua | grep -c '^-.*Uninstalled'")

		l.site(s, `package { "ccm-demo", "ccm-demo-broken", "ccm-demo-service" }`)
		out := l.exec("/opt/ccm/ccm", "run", "/root/site.lua")
		require.Equal(l.t, 4, out.status, out.stdout)
		require.Contains(l.t, out.stdout, s.name(fmt.Sprintf("+ package#ccm-demo: Installed (intended) (version 2.0%s)\nx package#ccm-demo-broken: failed: ", s.release)))
		require.Contains(l.t, out.stdout, s.name(fmt.Sprintf("+ package#ccm-demo-service: Installed (intended) (version 1.0%s)\n", s.release)))
		require.Contains(l.t, out.stdout, "\n3 resources: 2 changed, 1 failed")
		require.Contains(l.t, out.stdout, s.name(s.broken), "why it failed")
	})
}

// Properties of a package other than its version, with the real tools.
func TestPackageWishes(t *testing.T) {
	packageTests(t, func(l *lab, s packageSystem) {
		ensure := func(want, args string) {
			l.t.Helper()
			out := l.exec("sh", "-c", s.name("/opt/ccm/ccm ensure package ccm-demo "+args))
			require.Contains(l.t, out.stdout, s.name(want), args)
		}
		ensure("Would have installed (version 1.1", "'>= 1.0, < 2' --noop")
		ensure("+ package#ccm-demo: Installed (version 1.1", "'>= 1.0, < 2'")
		ensure("up to date", "'>= 1.0, < 2'")
		ensure("Upgraded", "'> 1.1'")
		ensure("which is newer: allow_downgrade is false", "1.0 --no-allow-downgrade")
		ensure("Downgraded to 1.0", "1.0")
		ensure("and no repository provides such a version", "'> 7'")
		ensure("--nosuch", "latest --options=--nosuch")
		ensure("Purged (intended) (version 1.0", "purged")
		ensure("up to date", "purged")
		l.says("gone", s.name("test -e /etc/ccm-demo/demo.conf || echo gone"))
		ensure("+ package#ccm-demo: Installed (intended) (version 1.1", "--source $(ls /srv/ccm-lab/*/ccm-demo[-_]1.1*)")
		ensure("up to date", "1.1 --source $(ls /srv/ccm-lab/*/ccm-demo[-_]1.1*)")
		ensure("Upgraded to 2.0", "2.0 --source $(ls /srv/ccm-lab/*/ccm-demo[-_]2.0*) --checksum $(sha256sum /srv/ccm-lab/*/ccm-demo[-_]2.0* | cut -c1-64)")
		ensure("expected a source with version 1.0 of ", "1.0 --source $(ls /srv/ccm-lab/*/ccm-demo[-_]1.1*)")
		ensure("expected a source with the package ccm-demo, found ccm-demo-dep ", "1.0 --source $(ls /srv/ccm-lab/*/ccm-demo-dep[-_]1.0*)")
		ensure("expected a source with the package ", "1.0 --noop --source $(ls /srv/ccm-lab/*/ccm-demo-dep[-_]1.0*)")
		ensure("expected a source with the SHA-256 aa", "1.0 --source $(ls /srv/ccm-lab/*/ccm-demo[-_]1.0*) --checksum "+strings.Repeat("a", 64))
	})
}

// Repositories determine the available version of a package, and the meaning of its name.
func TestRepositoriesDecide(t *testing.T) {
	for name, want := range map[string][][2]string{ // arguments, and output
		"Zypper": {
			{"ccm-demo-dep --noop", "Would have installed (version 1.0-1.lab, with ccm-demo)"},
			{"ccm-demo-epoch 1.5", "Installed version 1.5 (version 1.5-1.lab)"},
			{"ccm-demo-epoch 0.9", "ensure  1.5-1.lab → 0.9"},
			{"ccm-demo 9 --noop", "no repository provides version 9 of ccm-demo, only 2.0-1.lab, 1.1-1.lab, 1.0-1.lab"},
			{"nosuch", "no repository provides package nosuch"},
			{"ccm-demo-unmet --noop", "nothing provides ccm-demo-nonexistent needed by ccm-demo-unmet"},
			{"ccm-demo present --hold", "+ package#ccm-demo: Installed. Held"},
			{"ccm-demo.noarch 1.0", "which is on hold"},
		},
		"Pacman": {
			{"ccm-demo-dep --noop", "Would have installed (version 1.0-1, with ccm-demo)"},
			{"ccm-demo-epoch 1.5", "Installed version 1.5 (version 1.5-1)"},
			{"ccm-demo-epoch 0.9", "no repository provides version 0.9 of ccm-demo-epoch, only 1:0.9-2, 1.5-1"},
			{"ccm-demo-epoch 1:0.9", "Upgraded to 1:0.9"},
			{"ccm-group", "no repository provides package ccm-group"},
			{"ccm-virt", "no repository provides package ccm-virt"},
			{"ccm-demo-unmet --noop", "unable to satisfy dependency 'ccm-demo-nonexistent'"},
			{"ccm-demo present --hold", "cannot hold packages with a command (add it to IgnorePkg in /etc/pacman.conf)"},
		},
	} {
		s := packageSystems[name]
		t.Run(name, func(t *testing.T) {
			l := boot(t, s.family)
			for _, x := range want {
				require.Contains(l.t, l.exec("sh", "-c", s.name("/opt/ccm/ccm ensure package "+x[0])).stdout, s.name(x[1]), x[0])
			}
		})
	}
}

// pacman exits with 0 when the script of a package fails.
func TestPacmanScriptFails(t *testing.T) {
	l := boot(t, arch)
	l.sh(`mkdir /tmp/p && cd /tmp/p &&
		printf 'pkgname = ccm-script\npkgver = 1-1\npkgdesc = x\narch = any\nlicense = MIT\n' > .PKGINFO &&
		printf 'post_install() {\n  echo "it is broken"\n  return 3\n}\n' > .INSTALL &&
		bsdtar -cf - .PKGINFO .INSTALL | zstd -q > /root/ccm-script-1-1-any.pkg.tar.zst`)
	out := l.exec("/opt/ccm/ccm", "ensure", "package", "ccm-script", "--source", "/root/ccm-script-1-1-any.pkg.tar.zst")
	require.Equal(t, 4, out.status, out.stdout)
	require.Contains(t, out.stdout, "a package script failed: error: command failed to execute correctly\n    installing ccm-script...\n    it is broken")
	l.says("ccm-script 1-1", "pacman -Q ccm-script")
}

// A hold of apt is set, kept over a change, and removed.
func TestAptHold(t *testing.T) {
	l := boot(t, debian)
	l.converge(step{site: "hold/site.lua ccm-demo 1.0 true", does: []string{"package#ccm-demo: Installed version 1.0. Held"}})
	l.says("hi 1.0", dpkg("ccm-demo"))
	l.converge(step{site: "hold/site.lua ccm-demo 2.0 true", does: []string{"package#ccm-demo: Released. Upgraded to 2.0. Held"}})
	l.says("hi 2.0", dpkg("ccm-demo"))
	l.converge(step{site: "hold/site.lua ccm-demo 2.0 false", does: []string{"package#ccm-demo: Released"}})
	l.says("ii 2.0", dpkg("ccm-demo"))
}

// A package that apt installed for another one is marked as manual, so that apt autoremove keeps it.
func TestAptManual(t *testing.T) {
	l := boot(t, debian)
	l.sh("apt-get -qq -y install ccm-demo-dep > /dev/null")
	l.says("ccm-demo", "apt-mark showauto ccm-demo")
	for _, want := range []string{"~ package#ccm-demo: Marked as manually installed", "= package#ccm-demo: up to date"} {
		out := l.exec("/opt/ccm/ccm", "ensure", "package", "ccm-demo", "--manual")
		require.Contains(t, out.stdout+out.stderr, want)
	}
	l.says("", "apt-mark showauto ccm-demo")
}

// The index of apt is read again if it is too old, or lacks a package.
func TestAptRefresh(t *testing.T) {
	l := boot(t, debian)
	const old = "find /var/lib/apt/lists -exec touch -h -d '3 days ago' {} +;"
	l.sh("apt-get -qq -y install ccm-demo > /dev/null;" + old)
	require.Contains(t, l.sh("/opt/ccm/ccm ensure package ccm-demo latest --refresh 1d --noop"), "unknown whether it changes anything: the package index is 3 days old and is refreshed first")
	require.Contains(t, l.sh("/opt/ccm/ccm ensure package ccm-demo latest --refresh 1d 2>&1"), "the package index is 3 days old and is refreshed")
	require.Equal(t, "= package#ccm-demo: up to date", l.sh("/opt/ccm/ccm ensure package ccm-demo latest --refresh 1d 2>&1"))
	l.sh("rm -r /var/lib/apt/lists")
	require.Contains(t, l.sh("/opt/ccm/ccm ensure package ccm-demo-dep --noop"), "not in the package index, which is missing and would be refreshed first")
	require.Contains(t, l.sh("/opt/ccm/ccm ensure package ccm-demo-dep"), "+ package#ccm-demo-dep: Installed")
}

// The index of dnf and its relatives is read again if it is too old, and not again by the next run if the repository
// is unchanged. The result is reported.
func TestRefresh(t *testing.T) {
	indexes := map[string]string{"Dnf": "/var/cache/dnf", "Zypper": "/var/cache/zypp/raw", "Pacman": "/var/lib/pacman/sync /srv/ccm-lab/pacman"}
	for name, index := range indexes {
		s := packageSystems[name]
		t.Run(name, func(t *testing.T) {
			l := boot(t, s.family)
			old := "find " + index + " -exec touch -h -d '3 days ago' {} +; touch -d '30 days ago' /etc/yum.repos.d/*"
			ensure := func() string { return l.sh(s.name("/opt/ccm/ccm ensure package ccm-demo latest --refresh 1d 2>&1")) }
			l.sh("sed -i s/metadata_expire=1/metadata_expire=99d/ /etc/yum.repos.d/*")
			ensure()
			l.sh(old)
			require.Contains(t, ensure(), "the package index is 3 days old and is refreshed")
			require.Equal(t, s.name("= package#ccm-demo: up to date"), ensure())
			l.sh(old + "; /srv/ccm-lab/bin/publish")
			require.Contains(t, ensure(), fmt.Sprintf("Upgraded to latest (corrective) (version 3.0%s)", s.release))
		})
	}
}

// A plan reports that an upgrade or a downgrade is impossible.
func TestDowngradeInPlan(t *testing.T) {
	packageTests(t, func(l *lab, s packageSystem) {
		l.sh(s.name("/opt/ccm/ccm ensure package ccm-demo-dep"))
		want := "requires ccm-demo >= 1.1"
		switch s.family {
		case debian:
			want = "Would have downgraded to 1.0 (removes ccm-demo-dep)"
		case arch:
			want = "breaks dependency 'ccm-demo>=1.1'"
		}
		require.Contains(l.t, l.exec("/opt/ccm/ccm", "ensure", "package", s.name("ccm-demo"), "1.0", "--noop").stdout, s.name(want))
	})
}

// A package that is in a broken state makes all calls of apt fail, but not other resources.
func TestAptBrokenBefore(t *testing.T) {
	l := boot(t, debian)
	l.sh("apt-get -qq -y install ccm-demo-broken > /dev/null 2>&1 || :")
	for _, args := range []string{"ccm-demo 1.0", "ccm-demo latest", "ccm-demo absent"} {
		l.sh("/opt/ccm/ccm ensure package " + args)
	}
}

// A run does not remove a package for another one if the site wants both: the plan and each run fail.
func TestPackageRivals(t *testing.T) {
	packageTests(t, func(l *lab, s packageSystem) {
		l.sh(s.name("/opt/ccm/ccm ensure package ccm-demo-dep"))
		l.site(s, `package { "ccm-demo", ensure = "absent" } package { "ccm-demo-dep" }`)
		want := s.name("x package#ccm-demo: failed: would remove package#ccm-demo-dep, which /root/site.lua:1 declares")
		if s.family == arch { // pacman itself refuses
			want = s.name("breaks dependency 'ccm-demo>=1.1'")
		}
		for _, command := range []string{"plan", "run", "run"} {
			out := l.exec("/opt/ccm/ccm", command, "/root/site.lua")
			require.Equal(l.t, 4, out.status, out.stdout)
			require.Contains(l.t, out.stdout, want, command)
			require.Contains(l.t, out.stdout, "1 failed, 1 up to date")
		}
	})
}

// Of two packages that conflict, a plan and a run of a site with both install the first and fail for the second.
func TestAptConflict(t *testing.T) {
	l := boot(t, debian)
	l.sh(`for p in one two; do
		mkdir -p /tmp/p/DEBIAN
		printf "Package: v-$p\nVersion: 1\nArchitecture: all\nMaintainer: t <t@example.invalid>\nDescription: t\nProvides: v\nConflicts: v\nReplaces: v\n" > /tmp/p/DEBIAN/control
		dpkg-deb -b /tmp/p /srv/ccm-lab/apt/v-${p}_1_all.deb > /dev/null
	done; /srv/ccm-lab/bin/index; apt-get -qq update`)
	l.write("/root/site.lua", []byte("package { \"v-one\" }\npackage { \"v-two\" }\n"))
	plan := l.exec("/opt/ccm/ccm", "plan", "/root/site.lua")
	require.Contains(t, plan.stdout, "+ package#v-one: Would have installed (version 1)\nx package#v-two: failed: conflicts with packages that this site installs before it")
	refused := "x package#v-two: failed: would remove package#v-one, which /root/site.lua:1 declares (declare only one of them)"
	for _, want := range [][2]string{{"run", "1 changed, 1 failed"}, {"run", "1 failed, 1 up to date"}, {"plan", "1 failed, 1 up to date"}} {
		out := l.exec("/opt/ccm/ccm", want[0], "/root/site.lua")
		require.Equal(t, 4, out.status, out.stdout)
		require.Contains(t, out.stdout, refused)
		require.Contains(t, out.stdout, want[1])
	}
	l.says("ii 1", dpkg("v-one"))
	require.Contains(t, l.sh("/opt/ccm/ccm ensure package v-two"), "+ package#v-two: Installed (version 1, removed v-one)", "nothing else wants v-one")
}
