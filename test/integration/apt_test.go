//go:build integration

package integration

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// pkg returns the step for one package.
func pkg(name, ensure, does string) step {
	return step{site: "package/site.lua " + name + " " + ensure, does: []string{"package#" + name + ": " + does}}
}

// dpkg prints the status and the version of a package.
func dpkg(name string) string {
	return fmt.Sprintf(`dpkg-query -Wf '${db:Status-Abbrev}${Version}\n' %s`, name)
}

// publish publishes a Debian package whose postinst script is given.
func (l *lab) publish(name, version, postinst string) {
	l.t.Helper()
	l.sh(fmt.Sprintf(`mkdir -p /tmp/deb/DEBIAN
		printf 'Package: %%s\nVersion: %%s\nArchitecture: all\nMaintainer: t <t@example.invalid>\nDescription: t\n' %[1]s %[2]s > /tmp/deb/DEBIAN/control
		cat > /tmp/deb/DEBIAN/postinst <<'EOF'
#!/bin/sh
%[3]s
EOF
		chmod 755 /tmp/deb/DEBIAN/postinst
		dpkg-deb --root-owner-group --build /tmp/deb /srv/ccm-lab/apt/%[1]s_%[2]s_all.deb > /dev/null
		rm -r /tmp/deb
		/srv/ccm-lab/bin/index
		apt-get -qq update`, name, version, postinst))
}

func TestAptVersions(t *testing.T) {
	l := boot(t, debian)
	_, run := l.converge(pkg("ccm-demo", "1.0", "Installed version 1.0"))
	l.says("ii 1.0", dpkg("ccm-demo"))
	l.says("1.0", "ccm-demo")
	e := run.event("package#ccm-demo")
	requireEnsure(t, e, "apt", "absent", "1.0")

	// A package at a fixed version stays there although newer ones exist.
	l.converge(pkg("ccm-demo", "1.0", "stable"))
	l.converge(pkg("ccm-demo", "present", "stable"))
	l.says("ii 1.0", dpkg("ccm-demo"))

	l.converge(pkg("ccm-demo", "1.1", "Upgraded to 1.1"))
	l.says("ii 1.1", dpkg("ccm-demo"))

	_, run = l.converge(pkg("ccm-demo", "latest", "Upgraded to latest"))
	requireEnsure(t, run.event("package#ccm-demo"), "apt", "1.1", "2.0")
	l.says("2.0", "ccm-demo")

	l.converge(pkg("ccm-demo", "1.0", "Downgraded to 1.0"))
	l.says("1.0", "ccm-demo")

	// An edited file is kept when the package is removed, and when another version with another default is installed.
	l.sh("echo mine >> /etc/ccm-demo/demo.conf")
	l.converge(pkg("ccm-demo", "absent", "Uninstalled"))
	l.says("rc 1.0", dpkg("ccm-demo"))
	l.converge(pkg("ccm-demo", "present", "Installed"))
	l.says("ii 2.0", dpkg("ccm-demo"))
	l.says("# default of 1.0\nlevel=info\nmine", "cat /etc/ccm-demo/demo.conf")
	l.says("# default of 2.0\nlevel=info", "cat /etc/ccm-demo/demo.conf.dpkg-dist")

	l.converge(pkg("ccm-demo", "absent", "Uninstalled"))
	l.converge(pkg("ccm-demo", "latest", "Installed latest"))
	l.says("ii 2.0", dpkg("ccm-demo"))
}

// A package in any other state than installed counts as absent, so that installing it repairs it.
func TestAptRepairs(t *testing.T) {
	l := boot(t, debian)
	// The upgrade stops at a question about an edited file.
	l.sh("apt-get -qq -y install ccm-demo=1.0 > /dev/null; echo mine >> /etc/ccm-demo/demo.conf")
	l.sh("! DEBIAN_FRONTEND=noninteractive apt-get -qq -y install ccm-demo=2.0 < /dev/null > /dev/null 2>&1")
	_, run := l.converge(pkg("ccm-demo", "2.0", "Installed version 2.0"))
	requireEnsure(t, run.event("package#ccm-demo"), "apt", "unpacked", "2.0")
	l.says("ii 2.0", dpkg("ccm-demo"))
	l.says("# default of 1.0\nlevel=info\nmine", "cat /etc/ccm-demo/demo.conf")

	// The package's script has failed, for a reason that is gone.
	l.publish("ccm-flaky", "1.0", "[ -e /run/ready ] || { echo not ready >&2; exit 1; }")
	l.sh("! apt-get -qq -y install ccm-flaky > /dev/null 2>&1")
	l.says("iF 1.0", dpkg("ccm-flaky"))
	l.converge(step{
		site: "package/site.lua ccm-flaky present", does: []string{"package#ccm-flaky: failed"},
		plan: map[string]string{"package#ccm-flaky": "Would have installed"},
		errs: map[string][]string{"package#ccm-flaky": {"not ready", "E: Sub-process /usr/bin/dpkg returned an error code (1)"}},
	})
	l.sh("touch /run/ready")
	_, run = l.converge(pkg("ccm-flaky", "present", "Installed"))
	requireDiff(t, run.event("package#ccm-flaky"), "half-configured", "present")
	l.says("ii 1.0", dpkg("ccm-flaky"))
}

// The scripts of this package always fail.
func TestAptBroken(t *testing.T) {
	l := boot(t, debian)
	s := step{
		site: "package/site.lua ccm-demo-broken present", does: []string{"package#ccm-demo-broken: failed"},
		plan: map[string]string{"package#ccm-demo-broken": "Would have installed"},
		errs: map[string][]string{"package#ccm-demo-broken": {
			"ccm-demo-broken: postinst fails",
			"dpkg: error processing package ccm-demo-broken (--configure)",
			"E: Sub-process /usr/bin/dpkg returned an error code (1)",
		}},
	}
	l.converge(s)
	l.says("iF 1.0", dpkg("ccm-demo-broken"))
	_, run := l.converge(pkg("ccm-demo-broken", "absent", "Uninstalled"))
	requireDiff(t, run.event("package#ccm-demo-broken"), "half-configured", "absent")
	l.sh("dpkg --audit; apt-get check; ! dpkg-query -W ccm-demo-broken")
}

// A package in which dpkg was interrupted is removed or repaired, in whatever state it is.
func TestAptUnfinished(t *testing.T) {
	l := boot(t, debian)
	l.sh(`cd /tmp; deb() { # NAME SCRIPT: the script fails before /run/ready exists
			mkdir -p $1/DEBIAN $1/usr/share/$1; echo x > $1/usr/share/$1/x
			printf "Package: $1\nVersion: 1\nArchitecture: all\nMaintainer: t <t@example.invalid>\nDescription: t\n" > $1/DEBIAN/control
			for s in ${2-}; do printf '#!/bin/sh\n[ -e /run/ready ]\n' > $1/DEBIAN/$s; chmod 755 $1/DEBIAN/$s; done
			dpkg-deb -b $1 /srv/ccm-lab/apt/$1_1_all.deb > /dev/null; }
		for p in one two; do deb p-if-$p postinst; deb p-iu-$p; deb p-ih-$p "preinst postrm"; deb p-iw-$p; deb p-it-$p; done
		/srv/ccm-lab/bin/index; apt-get -qq update; exec > /dev/null 2>&1
		cd /srv/ccm-lab/apt; dpkg --unpack p-iw-* p-it-*; dpkg --configure -a; dpkg --unpack p-iu-*; ! dpkg -i p-if-*; ! dpkg -i p-ih-*
		perl -0pi -e 's/(Package: p-iw-...\nStatus: install ok )installed/$1triggers-awaited\nTriggers-Awaited: p-it-one/g;
			s/(Package: p-it-...\nStatus: install ok )installed/$1triggers-pending\nTriggers-Pending: x/g' /var/lib/dpkg/status`)
	l.says("p-if-one iF\np-ih-one iHR\np-it-one it\np-iu-one iU\np-iw-one iW",
		`dpkg-query -Wf '${Package} ${db:Status-Abbrev}\n' 'p-*-one' | sed 's/ *$//' | LC_ALL=C sort`)
	l.sh("touch /run/ready")
	for _, state := range []string{"ih", "if", "it", "iu", "iw"} {
		require.Contains(t, l.sh("/opt/ccm/ccm ensure package p-"+state+"-one absent --noop"), "Would have uninstalled", state)
		require.Contains(t, l.sh("/opt/ccm/ccm ensure package p-"+state+"-one absent"), "Uninstalled", state)
		require.Contains(t, l.sh("/opt/ccm/ccm ensure package p-"+state+"-one absent"), "up to date", state)
		l.sh("! dpkg-query -W p-" + state + "-one")
		l.sh("/opt/ccm/ccm ensure package p-" + state + "-two") // an earlier call of apt may have repaired it already
		l.says("ii 1", dpkg("p-"+state+"-two"))
	}
	l.says("", "dpkg --audit")
}

func TestAptUnmet(t *testing.T) {
	l := boot(t, debian)
	l.converge(step{
		site: "unmet/site.lua ccm-demo-unmet ccm-demo",
		does: []string{"package#ccm-demo-unmet: failed", "file#/etc/needs-it.conf: skipped", "package#ccm-demo: Installed"},
		plan: map[string]string{"package#ccm-demo-unmet": "Would have installed", "file#/etc/needs-it.conf": "Would have created the file"},
		errs: map[string][]string{"package#ccm-demo-unmet": {
			"Depends: ccm-demo-nonexistent but it is not installable",
			"E: Unable to correct problems, you have held broken packages.",
		}},
	})
	l.sh("! dpkg-query -W ccm-demo-unmet; ! test -e /etc/needs-it.conf")
	l.says("ii 2.0", dpkg("ccm-demo"))
}

func TestAptUnknown(t *testing.T) {
	l := boot(t, debian)
	l.converge(step{
		site: "package/site.lua ccm-nonesuch present", does: []string{"package#ccm-nonesuch: failed"},
		plan: map[string]string{"package#ccm-nonesuch": "Would have installed"},
		errs: map[string][]string{"package#ccm-nonesuch": {"unable to locate package ccm-nonesuch"}},
	})
	l.converge(step{
		site: "package/site.lua ccm-demo 9.9", does: []string{"package#ccm-demo: failed"},
		plan: map[string]string{"package#ccm-demo": "Would have installed version 9.9"},
		errs: map[string][]string{"package#ccm-demo": {"Version '9.9' for 'ccm-demo' was not found", "apt has 2.0, 1.1, 1.0 of it"}},
	})
}

// A package on hold by the administrator is not changed.
func TestAptHeld(t *testing.T) {
	l := boot(t, debian)
	l.sh("apt-get -qq -y install ccm-demo=1.0 > /dev/null; apt-mark -qq hold ccm-demo")
	for _, ensure := range []string{"2.0", "latest", "absent"} {
		l.converge(step{
			site: "package/site.lua ccm-demo " + ensure, does: []string{"package#ccm-demo: failed"},
			errs: map[string][]string{"package#ccm-demo": {"found 1.0, which is on hold"}},
		})
	}
	l.converge(pkg("ccm-demo", "present", "stable"))
	l.converge(pkg("ccm-demo", "1.0", "stable"))
	l.says("hi 1.0", dpkg("ccm-demo"))
}

// Versions are ordered as by dpkg: an epoch is higher than 1.5, a tilde is lower than nothing.
func TestAptOrder(t *testing.T) {
	l := boot(t, debian)
	for _, x := range []struct{ ensure, does, version string }{
		{"1:0.9~rc1-1", "Installed version 1:0.9~rc1-1", "1:0.9~rc1-1"},
		{"1:0.9-1", "Upgraded to 1:0.9-1", "1:0.9-1"},
		{"latest", "Upgraded to latest", "1:0.9-2+lab1"},
		{"1.5", "Downgraded to 1.5", "1.5"},
		{"1:0.9~rc1-1", "Upgraded to 1:0.9~rc1-1", "1:0.9~rc1-1"},
	} {
		l.converge(pkg("ccm-demo-epoch", x.ensure, x.does))
		l.says("ii "+x.version, dpkg("ccm-demo-epoch"))
	}
}

func TestAptDependency(t *testing.T) {
	l := boot(t, debian)
	l.converge(pkg("ccm-demo-dep", "present", "Installed"))
	l.says("ii 2.0\nii 1.0", dpkg("ccm-demo ccm-demo-dep"))
	// Removing a package also removes those that depend on it.
	l.converge(pkg("ccm-demo", "absent", "Uninstalled"))
	l.says("0", "dpkg-query -Wf '${db:Status-Abbrev}\n' ccm-demo-dep 2>/dev/null | grep -c ii || :")
}

// A repository, its index and a package of it, in one run.
func TestAptRepository(t *testing.T) {
	l := boot(t, debian)
	l.publish("ccm-extra", "1.0", ":")
	l.sh(`mkdir -p /srv/extra
		mv /srv/ccm-lab/apt/ccm-extra_* /srv/ccm-lab/held/*.deb /srv/extra
		cd /srv/extra && apt-ftparchive packages . > Packages && apt-ftparchive release . > Release
		/srv/ccm-lab/bin/index; apt-get -qq update; apt-get -qq -y install ccm-demo=1.0 > /dev/null`)
	const list, update = "file#/etc/apt/sources.list.d/extra.list", "exec#apt-get update"
	_, run := l.converge(step{
		site: "repository/apt.lua",
		does: []string{
			list + ": Created the file", update + ": Executed via subscribe",
			"package#ccm-demo: Upgraded to latest", "package#ccm-extra: Installed version 1.0",
		},
		plan: map[string]string{"package#ccm-demo": "unknown: " + update + " is pending", "package#ccm-extra": "unknown: " + update + " is pending"},
	})
	requireDiff(t, run.event("package#ccm-demo"), "1.0", "3.0")
	l.says("ii 3.0\nii 1.0", dpkg("ccm-demo ccm-extra"))
}

func TestAptService(t *testing.T) {
	l := boot(t, debian)
	l.converge(step{
		site: "packaged-service/site.lua ccm-demo-service ccm-demo",
		does: []string{"package#ccm-demo-service: Installed", "service#ccm-demo: Started. Enabled"},
	})
	l.says("enabled\nactive", "systemctl is-enabled ccm-demo; systemctl is-active ccm-demo")

	// This service is enabled and started by its package.
	l.converge(step{
		site: "packaged-service/site.lua ccm-demo-auto ccm-demo-auto",
		does: []string{"package#ccm-demo-auto: Installed", "service#ccm-demo-auto: stable"},
		plan: map[string]string{"service#ccm-demo-auto": "Would have started. Would have enabled"},
	})
	l.says("enabled\nactive", "systemctl is-enabled ccm-demo-auto; systemctl is-active ccm-demo-auto")
	l.converge(pkg("ccm-demo-auto", "absent", "Uninstalled"))
	l.says("inactive", "systemctl is-active ccm-demo-auto || :")
}

// TestAptRemovalInPlan: a plan and a run fail that would remove a package which the site wants.
func TestAptRemovalInPlan(t *testing.T) {
	l := boot(t, debian)
	l.sh("apt-get -qq -y install ccm-demo-dep > /dev/null")
	l.planRemoval("ccm-demo", "ccm-demo-dep")
}

// planRemoval plans and runs a site that removes a package, and wants one that depends on it: both fail, and nothing is
// removed.
func (l *lab) planRemoval(pkg, dependent string) {
	l.t.Helper()
	l.write("/root/site.lua", []byte(fmt.Sprintf("package { %q, ensure = \"absent\" }\npackage { %q }\n", pkg, dependent)))
	for _, verb := range []string{"plan", "run"} {
		out := l.sh("/opt/ccm/ccm " + verb + " /root/site.lua || test $? = 4")
		require.Contains(l.t, out, fmt.Sprintf("x package#%s: failed: would remove package#%s, which /root/site.lua:2 declares (declare only one of them)", pkg, dependent))
		require.Contains(l.t, out, "2 resources: 1 failed, 1 up to date")
	}
}
