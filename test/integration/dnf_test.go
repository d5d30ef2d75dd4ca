//go:build integration

package integration

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// rpm prints the version of a package in rpm's form.
func rpm(name string) string {
	return `rpm -q --qf '%{EPOCHNUM}:%{VERSION}-%{RELEASE}\n' ` + name
}

func TestDnfVersions(t *testing.T) {
	l := boot(t, rhel)
	const id = "package#ccm-demo-rpm"
	_, run := l.converge(pkg("ccm-demo-rpm", "1.0", "Installed version 1.0"))
	l.says("0:1.0-1.lab", rpm("ccm-demo-rpm"))
	l.says("1.0", "ccm-demo-rpm")
	require.Equal(t, "dnf", run.event(id).Provider)
	requireDiff(t, run.event(id), "absent", "1.0")

	// A package at a fixed version, with or without a release, stays there.
	l.converge(pkg("ccm-demo-rpm", "1.0", "stable"))
	l.converge(pkg("ccm-demo-rpm", "1.0-1.lab", "stable"))
	l.converge(pkg("ccm-demo-rpm", "present", "stable"))
	l.says("1.0", "ccm-demo-rpm")

	// An edited file is kept.
	l.sh("echo mine >> /etc/ccm-demo-rpm.conf")
	l.converge(pkg("ccm-demo-rpm", "1.1-1.lab", "Upgraded to 1.1-1.lab"))
	l.says("0:1.1-1.lab", rpm("ccm-demo-rpm"))
	l.says("# default of 1.0\nlevel=info\nmine", "cat /etc/ccm-demo-rpm.conf")
	l.says("# default of 1.1\nlevel=info", "cat /etc/ccm-demo-rpm.conf.rpmnew")

	_, run = l.converge(pkg("ccm-demo-rpm", "latest", "Upgraded to latest"))
	requireDiff(t, run.event(id), "1.1-1.lab", "2.0-1.lab")
	l.says("2.0", "ccm-demo-rpm")

	l.sh("/srv/ccm-lab/bin/publish; dnf -q clean expire-cache")
	_, run = l.converge(pkg("ccm-demo-rpm", "latest", "Upgraded to latest"))
	requireDiff(t, run.event(id), "2.0-1.lab", "3.0-1.lab")

	l.converge(pkg("ccm-demo-rpm", "1.0", "Downgraded to 1.0"))
	l.says("0:1.0-1.lab", rpm("ccm-demo-rpm"))

	// rpm renames an edited file when its package is removed.
	l.converge(pkg("ccm-demo-rpm", "absent", "Uninstalled"))
	l.says("package ccm-demo-rpm is not installed", rpm("ccm-demo-rpm")+" || :")
	l.says("# default of 1.0\nlevel=info\nmine", "cat /etc/ccm-demo-rpm.conf.rpmsave")

	l.converge(pkg("ccm-demo-rpm", "present", "Installed"))
	l.says("0:3.0-1.lab", rpm("ccm-demo-rpm"))
	l.converge(pkg("ccm-demo-rpm", "absent", "Uninstalled"))
	l.converge(pkg("ccm-demo-rpm", "latest", "Installed latest"))
	l.says("0:3.0-1.lab", rpm("ccm-demo-rpm"))
}

// Its script fails before anything is installed.
func TestDnfBroken(t *testing.T) {
	l := boot(t, rhel)
	l.converge(step{
		site: "package/site.lua ccm-demo-rpm-broken present", does: []string{"package#ccm-demo-rpm-broken: failed"},
		plan: map[string]string{"package#ccm-demo-rpm-broken": "Would have installed"},
		errs: map[string][]string{"package#ccm-demo-rpm-broken": {"ccm-demo-rpm-broken: pre fails", "Error: Transaction failed"}},
	})
	l.says("package ccm-demo-rpm-broken is not installed", rpm("ccm-demo-rpm-broken")+" || :")
}

func TestDnfUnmet(t *testing.T) {
	l := boot(t, rhel)
	l.converge(step{
		site: "unmet/site.lua ccm-demo-rpm-unmet ccm-demo-rpm",
		does: []string{"package#ccm-demo-rpm-unmet: failed", "file#/etc/needs-it.conf: skipped", "package#ccm-demo-rpm: Installed"},
		plan: map[string]string{"package#ccm-demo-rpm-unmet": "Would have installed", "file#/etc/needs-it.conf": "Would have created the file"},
		errs: map[string][]string{"package#ccm-demo-rpm-unmet": {"nothing provides ccm-demo-rpm-nonexistent needed by ccm-demo-rpm-unmet-1.0-1.lab.noarch"}},
	})
	l.sh("! rpm -q ccm-demo-rpm-unmet; ! test -e /etc/needs-it.conf; rpm -q ccm-demo-rpm")
}

func TestDnfUnknown(t *testing.T) {
	l := boot(t, rhel)
	l.converge(step{
		site: "package/site.lua ccm-nonesuch present", does: []string{"package#ccm-nonesuch: failed"},
		plan: map[string]string{"package#ccm-nonesuch": "Would have installed"},
		errs: map[string][]string{"package#ccm-nonesuch": {"No match for argument: ccm-nonesuch", "Unable to find a match: ccm-nonesuch"}},
	})
	l.converge(step{
		site: "package/site.lua ccm-demo-rpm 9.9", does: []string{"package#ccm-demo-rpm: failed"},
		plan: map[string]string{"package#ccm-demo-rpm": "Would have installed version 9.9"},
		errs: map[string][]string{"package#ccm-demo-rpm": {"ccm-demo-rpm-9.9"}},
	})
}

// Versions are ordered as by rpm: an epoch is higher than 1.5, a tilde is lower than nothing. A wanted version need
// not have the epoch.
func TestDnfOrder(t *testing.T) {
	nightly(t)
	l := boot(t, rhel)
	for _, x := range []struct{ ensure, does, evr string }{
		{"1:0.9~rc1", "Installed version 1:0.9~rc1", "1:0.9~rc1-1.lab"},
		{"0.9-1.lab", "Upgraded to 0.9-1.lab", "1:0.9-1.lab"},
		{"latest", "Upgraded to latest", "1:0.9-2.lab"},
		{"0.9", "stable", "1:0.9-2.lab"},
		{"1.5", "Downgraded to 1.5", "0:1.5-1.lab"},
		{"0.9~rc1", "Upgraded to 0.9~rc1", "1:0.9~rc1-1.lab"},
	} {
		l.converge(pkg("ccm-demo-rpm-epoch", x.ensure, x.does))
		l.says(x.evr, rpm("ccm-demo-rpm-epoch"))
	}
}

func TestDnfDependency(t *testing.T) {
	l := boot(t, rhel)
	l.converge(pkg("ccm-demo-rpm-dep", "present", "Installed"))
	l.says("0:2.0-1.lab\n0:1.0-1.lab", rpm("ccm-demo-rpm ccm-demo-rpm-dep"))
	l.converge(pkg("ccm-demo-rpm", "absent", "Uninstalled"))
	l.sh("! rpm -q ccm-demo-rpm-dep")
}

func TestDnfRepository(t *testing.T) {
	l := boot(t, rhel)
	l.sh(`mkdir -p /srv/extra; mv /srv/ccm-lab/held/*.rpm /srv/extra; createrepo_c -q /srv/extra
		dnf -q -y install ccm-demo-rpm-1.0 > /dev/null`)
	const repo = "file#/etc/yum.repos.d/extra.repo"
	_, run := l.converge(step{
		site: "repository/dnf.lua",
		does: []string{repo + ": Created the file", "package#ccm-demo-rpm: Upgraded to latest"},
		plan: map[string]string{"package#ccm-demo-rpm": "unknown: " + repo + " is pending"},
	})
	requireDiff(t, run.event("package#ccm-demo-rpm"), "1.0-1.lab", "3.0-1.lab")
	l.says("3.0", "ccm-demo-rpm")
}

func TestDnfService(t *testing.T) {
	l := boot(t, rhel)
	l.converge(step{
		site: "packaged-service/site.lua ccm-demo-rpm-service ccm-demo-rpm",
		does: []string{"package#ccm-demo-rpm-service: Installed", "service#ccm-demo-rpm: Started. Enabled"},
	})
	l.says("enabled\nactive", "systemctl is-enabled ccm-demo-rpm; systemctl is-active ccm-demo-rpm")
}

// On a machine with both package systems, that of the distribution is chosen, and the other can be forced.
func TestBothPackageSystems(t *testing.T) {
	l := boot(t, mixed)
	_, run := l.converge(step{
		site: "both/site.lua",
		does: []string{"package#ccm-demo: Installed", "package#ccm-demo-rpm: Installed"},
	})
	require.Equal(t, "apt", run.event("package#ccm-demo").Provider)
	require.Equal(t, "dnf", run.event("package#ccm-demo-rpm").Provider)
	l.says("2.0\n2.0", "ccm-demo; ccm-demo-rpm")
}

// TestDnfRemovalInPlan is TestAptRemovalInPlan with dnf.
func TestDnfRemovalInPlan(t *testing.T) {
	l := boot(t, rhel)
	l.sh("dnf -q -y install ccm-demo-rpm-dep > /dev/null")
	l.planRemoval("ccm-demo-rpm", "ccm-demo-rpm-dep")
}
