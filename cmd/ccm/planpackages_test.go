package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// planOfPackages returns the plan of a site on a machine with packages, without its last line. D stands for the
// machine's directory.
func planOfPackages(t *testing.T, files map[string]string, site string) string {
	t.Helper()
	isolate(t)
	m := randomMachine{t.TempDir(), func(path string) string { return path }}
	for name, text := range files {
		require.NoError(t, m.write(name, text))
	}
	file := filepath.Join(t.TempDir(), "site.lua")
	owner, group := hosttest.Me()
	text := strings.NewReplacer("D/", m.dir+"/", "OWNER", owner, "GROUP", group).Replace(site)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	var stdout, stderr bytes.Buffer
	e := newEnv(strings.NewReader(""), &stdout, &stderr, hosttest.Clock{})
	e.Substitutes = m.providers()
	status := run(t.Context(), e, []string{"plan", file})
	var lines []string
	for line := range strings.Lines(strings.NewReplacer(m.dir+"/", "D/", file, "site.lua", " "+owner+":"+group+" ", " OWNER:GROUP ").Replace(stdout.String())) {
		if strings.Contains("+-~!?=x", line[:1]) && strings.Contains(line, "#") {
			lines = append(lines, line)
		}
	}
	failed := slices.ContainsFunc(lines, func(line string) bool { return line[0] == 'x' })
	require.Equal(t, failed, status != 0, stderr.String())
	return strings.Join(lines, "")
}

// TestRemovalInPlan: resources that go away with a removed package are not stable in a plan, neither dependent
// packages nor its files that the site manages. The package alpha needs gamma.
func TestRemovalInPlan(t *testing.T) {
	machine := map[string]string{
		"installed/alpha": "1.0", "installed/gamma": "1.0", "repo/alpha": "1.0", "repo/gamma": "1.0",
		"units/alpha": "unit", "running/alpha": "1", "share/alpha": "1\n", "share/other": "1\n",
	}
	const files = `
file.defaults { owner = "OWNER", group = "GROUP", mode = "0644" }
file { "D/share/alpha", content = "1\n" }
file { "D/share/other", content = "1\n" }
service { "alpha" }
`
	require.Equal(t, `- package#gamma: Would have uninstalled (version 1.0)
? file#D/share/alpha: unknown before package#gamma (pending); now: nothing to do
? service#alpha: unknown before package#gamma (pending); now: nothing to do
`, planOfPackages(t, machine, `package { "gamma", ensure = "absent" }`+files))
	require.Equal(t, "x package#gamma: failed: would remove package#alpha, which site.lua:1 declares (declare only one of them) (site.lua:1)\n",
		planOfPackages(t, machine, `package { "gamma", ensure = "absent" } package { "alpha" }`), "a later run would install alpha again")
	require.Equal(t, `- package#gamma: Would have uninstalled (version 1.0)
- package#alpha: Would have uninstalled (version 1.0)
`, planOfPackages(t, machine, `package { "gamma", ensure = "absent" } package { "alpha", ensure = "absent" }`), "they go together")
	require.Equal(t, `- package#gamma: Would have uninstalled (version 1.0)
? package#alpha: after package#gamma (pending): nothing to do
`, planOfPackages(t, machine, `package { "gamma", ensure = "absent" } package { "alpha", ensure = "absent", require = "package#gamma" }`))
	require.Equal(t, `- package#alpha: Would have uninstalled (version 1.0)
`, planOfPackages(t, machine, `package { "alpha", ensure = "absent" } package { "gamma" }`))
	require.Equal(t, `~ exec#other: Would have executed
- package#alpha: Would have uninstalled (version 1.0)
? service#alpha: unknown before package#alpha (pending); now: nothing to do
`, planOfPackages(t, machine, `exec { "other", command = "sh -c true" } package { "alpha", ensure = "absent" } service { "alpha" }`))
}

// TestLostPackage: a package that is removed and in no repository is missing for a later installation.
func TestLostPackage(t *testing.T) {
	const site = `package { "gamma", ensure = "absent" } package { "alpha" }`
	require.Equal(t, `- package#gamma: Would have uninstalled (version 1.0)
? package#alpha: unknown before package#gamma (pending); now: would install
`, planOfPackages(t, map[string]string{"installed/gamma": "1.0", "repo/alpha": "1.0"}, site))
	require.Equal(t, `- package#gamma: Would have uninstalled (version 1.0)
+ package#alpha: Would have installed (version 1.0)
`, planOfPackages(t, map[string]string{"installed/gamma": "1.0", "repo/alpha": "1.0", "repo/gamma": "1.0"}, site))
}

// TestOriginInPlan: if a resource is unknown because of other unknown ones, the plan names the pending resource
// behind all of them.
func TestOriginInPlan(t *testing.T) {
	require.Equal(t, `+ package#beta: Would have installed (version 1.0)
+ file#D/etc/beta/x: after package#beta (pending): would create or update (1 line, OWNER:GROUP 0644)
! exec#check: if file#D/etc/beta/x (pending) changes: would execute
~ service#beta: after package#beta (pending): would start
`, planOfPackages(t, map[string]string{"repo/beta": "1.0", "etc/x": ""}, `
package { "beta" }
local conf = file { "D/etc/beta/x", content = "1\n", owner = "OWNER", group = "GROUP", mode = "0644" }
exec { "check", command = "sh -c 'true'", refreshonly = true, subscribe = conf, before = "service#beta" }
service { "beta", subscribe = conf }
`))
}

// TestUncertainInPlan: what a run changes unless a package brings exactly that is pending, with the sign that follows
// from what is known. What may turn out to be nothing is unknown.
func TestUncertainInPlan(t *testing.T) {
	require.Equal(t, `+ package#beta: Would have installed (version 1.0)
+ file#D/etc/beta/x: after package#beta (pending): would create or update (1 line, OWNER:GROUP 0644)
~ file#D/etc/beta.conf: Would have updated the file
+ link#D/etc/beta/l: after package#beta (pending): would create or update (target x)
? file#D/etc/beta/dir: after package#beta (pending): would create the directory (mode 0755) if it does not exist then
? line#one: after package#beta (pending): would fail: expected a file to edit at D/etc/beta/lines, found nothing (create it with create = { owner = ..., group = ..., mode = ... })
~ service#beta: after package#beta (pending): would start
+ file#D/elsewhere: Would have created the file (1 line, OWNER:GROUP 0644) (after package#beta)
`, planOfPackages(t, map[string]string{"repo/beta": "1.0", "etc/beta.conf": "old\n", "etc/beta/other": ""}, `
file.defaults { owner = "OWNER", group = "GROUP", mode = "0644" }
package { "beta" }
file { "D/etc/beta/x", content = "1\n" }
file { "D/etc/beta.conf", content = "new\n" }
std.link { "D/etc/beta/l", target = "x" }
file { "D/etc/beta/dir", ensure = "directory", owner = "-1", group = "-1", mode = "0755" }
std.line { "one", line = "a", path = "D/etc/beta/lines" }
service { "beta" }
file { "D/elsewhere", content = "1\n", require = "package#beta" }
`))
}

// TestUnrelatedPackage: a package says nothing about services and packages of other names that are there, nor about
// what is the administrator's; a directory is made although another one above it may be there.
func TestUnrelatedPackage(t *testing.T) {
	owner, group := hosttest.Me()
	me := owner + ":" + group
	machine := map[string]string{
		"repo/beta": "1.0", "repo/other-repo": "1.0", "repo/delta": "1.0", "units/delta": "unit", "running/delta": "1", "units/beta": "unit", "running/beta": "1", "etc/x": "",
	}
	require.Equal(t, `+ package#beta: Would have installed (version 1.0)
? service#beta: unknown before package#beta (pending); now: nothing to do
`, planOfPackages(t, machine, `package { "beta" } service { "delta" } service { "beta" }`))
	require.Equal(t, `+ package#other-repo: Would have installed (version 1.0)
+ package#delta: Would have installed (after package#other-repo, version 1.0)
`, planOfPackages(t, machine, `package { "other-repo", before = "package#delta" } package { "delta" }`))
	require.Equal(t, `+ package#beta: Would have installed (version 1.0)
+ file#D/etc/more/dir: after package#beta (pending): would create the directory (`+me+` 0755, parents D/etc/more (mode 0755))
! exec#make: after package#beta (pending): would execute
`, strings.ReplaceAll(planOfPackages(t, machine, `
local beta = package { "beta" }
file { "D/etc/more/dir", ensure = "directory", owner = "OWNER", group = "GROUP", mode = "0755" }
local x = file { "D/etc/x", content = "1\n", owner = "OWNER", group = "GROUP", mode = "0644" }
exec { "make", command = "beta-make", refreshonly = true, subscribe = x, require = beta }
`), "~ file#D/etc/x: Would have updated the file\n", ""))
}

// TestAccountOfPackage: a package may make the user and the group of its name, and no other.
func TestAccountOfPackage(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("users are made by root only")
	}
	require.Equal(t, `+ package#beta: Would have installed (version 1.0)
? group#beta: unknown before package#beta (pending); now: would create (system false, membership minimum)
+ group#unrelated-to-it: Would have created the group (system false, membership minimum)
`, planOfPackages(t, map[string]string{"repo/beta": "1.0"}, `package { "beta" } require "std.group" { { "beta", "unrelated-to-it" } }`))
}

// TestFilesOfPackages: where the package manager knows the files of packages, a plan knows what they bring: a removal is
// pending or up to date, and what they do not bring is made.
func TestFilesOfPackages(t *testing.T) {
	site := `
package { "beta" }
file { "D/etc/beta/default.conf", ensure = "absent" }
file { "D/etc/beta/on/sample.conf", ensure = "absent" }
file { "D/etc/beta/conf.d/old.conf", ensure = "absent" }
file { "D/etc/beta/dir", ensure = "directory", owner = "-1", group = "-1", mode = "0755" }
file { "D/etc/beta/x.conf", content = "1\n", owner = "OWNER", group = "GROUP", mode = "0644" }
exec { "key", command = "sh -c 'true'", creates = "D/etc/beta/key", require = "package#beta" }
`
	machine := map[string]string{"repo/beta": "1.0", "etc/x": ""}
	require.Equal(t, `+ package#beta: Would have installed (version 1.0)
? file#D/etc/beta/default.conf: unknown before package#beta (pending); now: nothing to do
? file#D/etc/beta/on/sample.conf: unknown before package#beta (pending); now: nothing to do
? file#D/etc/beta/conf.d/old.conf: unknown before package#beta (pending); now: nothing to do
? file#D/etc/beta/dir: after package#beta (pending): would create the directory (mode 0755, parents D/etc/beta (mode 0755)) if it does not exist then
+ file#D/etc/beta/x.conf: after package#beta (pending): would create or update (1 line, OWNER:GROUP 0644)
? exec#key: unknown before package#beta (pending); now: would execute
`, planOfPackages(t, machine, site))
	machine["lists"] = "beta etc/beta/default.conf\nbeta share/sample.conf.in\n"
	require.Equal(t, `+ package#beta: Would have installed (version 1.0)
- file#D/etc/beta/default.conf: Would have removed the file
? file#D/etc/beta/on/sample.conf: unknown before package#beta (pending); now: nothing to do
+ file#D/etc/beta/dir: after package#beta (pending): would create the directory (mode 0755)
+ file#D/etc/beta/x.conf: after package#beta (pending): would create (1 line, OWNER:GROUP 0644)
~ exec#key: after package#beta (pending): would execute
`, planOfPackages(t, machine, site))
}

// TestServiceOfNewUnit: a command cannot start a service whose unit is made only after it.
func TestServiceOfNewUnit(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("units are made by root only")
	}
	unit := `file { "/etc/systemd/system/ccm-nosuch.service", content = "[Service]\n", owner = "0", group = "0", mode = "0644", parents = true }
`
	setup := `exec { "setup", command = "sh -c 'ccm-nosuch --install'" }
`
	plan := func(site string) string {
		return planOfPackages(t, map[string]string{"units/ccm-nosuch": "unit"}, site+`service { "ccm-nosuch", require = { "exec#setup", "file#/etc/systemd/system/ccm-nosuch.service" } }`)
	}
	require.Contains(t, plan(setup+unit), "~ service#ccm-nosuch: Would have started")
	require.Contains(t, plan(unit+setup), "? service#ccm-nosuch: unknown before exec#setup (pending)")
}

// TestExpectedRefresh: a command of which the output decides whether it changes anything stays unknown.
func TestExpectedRefresh(t *testing.T) {
	site := `package { "beta" }
local x = file { "D/etc/beta/x", content = "1\n", owner = "OWNER", group = "GROUP", mode = "0644" }
exec { "load", command = "sh -c true", refreshonly = true, subscribe = x, require = "package#beta", changed_if = "loaded" }
`
	require.Contains(t, planOfPackages(t, map[string]string{"repo/beta": "1.0", "etc/x": ""}, site), "? exec#load: ")
	require.Contains(t, planOfPackages(t, map[string]string{"repo/beta": "1.0", "etc/x": ""}, strings.Replace(site, `, changed_if = "loaded"`, "", 1)), "! exec#load: ")
}
