//go:build integration

package integration

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/stdlib"
)

// A leavesRow has sites of one type of the standard library, which are run one after the other.
type leavesRow struct {
	typ string
	// families are those on which it is run; none means Debian.
	families []string
	// ready is a shell script that readies a machine.
	ready string
	sites []string
	// image says that the sites are run below --root, because a lab can do it only there.
	image bool
	// reads says that there is nothing to do.
	reads bool
	// anything says why the type leaves anything: then there is nothing to compare.
	anything string
}

const (
	aKey     = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKWvfQlXSV3BXkwcg3c1MiEwNDRYTZpLXpW2k5g1VvLx"
	otherKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGFrTXVsVmVyc2lvbk9mQUtleUZvclRlc3RzMTIz"
)

var allFamilies = []string{debian, rhel, suse, arch}

// leavesRows has a row for each type, and more for those that do different things.
var leavesRows = []leavesRow{
	{typ: "group", families: allFamilies, ready: "useradd -M dora", sites: []string{
		`std.group { "crew", gid = 4321, members = { "dora" } }`, `std.group { "crew", members = {}, membership = "exact" }`,
		`std.group { "crew", gid = 4322 }`, `std.group { "crew", ensure = "absent" }`,
	}},
	{typ: "user", families: allFamilies, ready: "groupadd staff2; mkdir -p /etc/skel/.config; echo x > /etc/skel/.config/y", sites: []string{
		`std.user { "ada", uid = 4400, groups = { "staff2" }, shell = "/bin/sh", manage_home = true, password = "*" }`,
		`std.user { "ada", comment = "Ada", expires = "2030-01-01", max_days = 90, locked = true }`,
		`std.user { "ada", home = "/home/lovelace", manage_home = true }`,
		`std.user { "ada", uid = 4401, shell = "/bin/bash" }`,
		`std.user { "ada", ensure = "absent", manage_home = true, with_data = true }`,
		`std.user { "daemon1", system = true, home = "/var/lib/daemon1" }`,
		`std.user { "grace", subuids = { "300000:65536" }, subgids = { "300000:65536" } }`,
		`std.user { "grace", ensure = "absent" }`,
	}},
	{typ: "user", ready: "apt-get -qq -y install openssh-client > /dev/null 2>&1", sites: []string{
		`std.user { "linus", manage_home = true, ssh_key = "ed25519" }`, `std.user { "linus", ssh_key = "ecdsa" }`,
	}},
	{typ: "hostname", sites: []string{`std.hostname { "web1" }`}},
	{typ: "timezone", families: allFamilies, ready: "mkdir -p /usr/share/zoneinfo/Europe; printf TZif2 > /usr/share/zoneinfo/Europe/Berlin", sites: []string{`std.timezone { "Europe/Berlin" }`}},
	{typ: "locale", ready: "apt-get -qq -y install locales > /dev/null 2>&1", sites: []string{
		`std.locale { "de_DE.UTF-8", default = true }`, `std.locale { "de_DE.UTF-8", default = false }`, `std.locale { "de_DE.UTF-8", ensure = "absent" }`,
	}},
	{typ: "mount", ready: "mkdir -p /srv/from /srv/to /srv/new; touch /srv/from/x", sites: []string{
		`std.mount { "/srv/to", device = "/srv/from", type = "none", options = { "bind" } }`,
		`std.mount { "/srv/to", device = "/srv/from", type = "none", options = { "bind", "ro" } }`,
		`std.mount { "/srv/to", ensure = "unmounted" }`, `std.mount { "/srv/to", ensure = "absent" }`,
		`std.mount { "/srv/made", device = "tmpfs", type = "tmpfs" }`, `std.mount { "/srv/made", ensure = "absent" }`,
		`std.mount { "/srv/later", device = "LABEL=later", type = "ext4", ensure = "present" }`,
	}},
	{typ: "swap", image: true, sites: []string{`std.swap { "/swapfile", size = "1M" }`, `std.swap { "/swapfile", ensure = "absent" }`}},
	{typ: "sysctl", sites: []string{
		`std.sysctl { "net.ipv4.ip_forward", value = 1 }`, `std.sysctl { "net.ipv4.conf.default.rp_filter", value = 2 }`,
		`std.sysctl { "net.ipv4.ip_forward", ensure = "absent" }`,
	}},
	{typ: "kernel_module", image: true, sites: []string{
		`std.kernel_module { "nf_conntrack", options = "hashsize=65536" }`, `std.kernel_module { "nf_conntrack", ensure = "absent" }`,
	}},
	{typ: "firewall", ready: "apt-get -qq -y install nftables > /dev/null 2>&1", sites: []string{
		`std.firewall { "web", rules = "chain input { type filter hook input priority 0; }" }`,
		`std.firewall { "web", rules = "chain input { type filter hook input priority 1; }" }`, `std.firewall { "web", ensure = "absent" }`,
	}},
	{typ: "selinux_boolean", image: true, ready: selinuxReady, sites: []string{`std.selinux_boolean { "httpd_can_network_connect", value = true }`}},
	{typ: "selinux_context", image: true, ready: selinuxReady, sites: []string{`std.selinux_context { "/srv/www(/.*)?", type = "httpd_sys_content_t" }`}},
	{typ: "unit", families: allFamilies, sites: []string{
		`std.unit { "one.service", content = "[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\nAlias=uno.service\n", enable = true }`,
		`std.unit { "limits", unit = "one.service", dropin = "limits", content = "[Service]\nLimitNOFILE=1234\n" }`,
		`std.unit { "one.service", content = "[Service]\nExecStart=/bin/sleep 9999\n[Install]\nWantedBy=default.target\n", enable = false }`,
		`std.unit { "limits", unit = "one.service", dropin = "limits", ensure = "absent" }`,
	}},
	{typ: "unit", anything: "a service that starts or stops may change files", sites: []string{
		`std.unit { "two.service", content = "[Service]\nExecStart=/bin/sleep infinity\n", active = true }`, `std.unit { "two.service", ensure = "absent" }`,
	}},
	{typ: "timer", sites: []string{
		`std.timer { "tidy", command = "/bin/true", schedule = "daily", persistent = false }`, `std.timer { "tidy", command = "/bin/true", schedule = "weekly", persistent = false }`,
		`std.timer { "tidy", ensure = "absent" }`,
	}},
	{typ: "host", sites: []string{`std.host { "db", ip = "192.0.2.1" }`, `std.host { "db", ensure = "absent" }`}},
	{typ: "cron", ready: "mkdir -p /etc/cron.d", sites: []string{
		`std.cron { "job", command = "/bin/true", schedule = "5 3 * * *", user = "root" }`, `std.cron { "job", ensure = "absent" }`,
	}},
	{typ: "block", sites: []string{`std.block { "web", path = "/etc/hosts", content = "192.0.2.1 web1\n" }`}},
	{typ: "line", sites: []string{`std.line { "/etc/hosts", line = "192.0.2.7 web7" }`}},
	{typ: "replace", sites: []string{`std.replace { "root", path = "/etc/passwd", match = "^root:x:0:0:[^:]*:", replacement = "root:x:0:0:The root:" }`}},
	{typ: "kv", ready: "touch /etc/kv.conf", sites: []string{`std.kv { "Port", path = "/etc/kv.conf", value = "22" }`}},
	{typ: "ini", ready: "touch /etc/app.ini", sites: []string{`std.ini { "listen", path = "/etc/app.ini", section = "server", value = "80" }`}},
	{typ: "json_setting", sites: []string{`std.json_setting { "a.b", path = "/etc/a.json", value = 1, create = true }`}},
	{typ: "toml_setting", sites: []string{`std.toml_setting { "a.b", path = "/etc/a.toml", value = 1, create = true }`}},
	{typ: "yaml_setting", sites: []string{`std.yaml_setting { "a.b", path = "/etc/a.yaml", value = 1, create = true }`}},
	{typ: "link", ready: "ln -s /nowhere /etc/moved", sites: []string{
		`std.link { "/etc/linked", target = "/run/motd" }`, `std.link { "/srv/new/a/link", target = "/run/motd", parents = true }`,
		`std.link { "/etc/moved", target = "/run/motd" }`, `std.link { "/etc/linked", ensure = "absent" }`,
	}},
	{typ: "directory", ready: "mkdir -p /root/tree/sub; echo x > /root/tree/sub/x; echo y > /root/tree/y; mkdir -p /srv/data/d; touch /srv/data/f /srv/data/d/f", sites: []string{
		`std.directory { "/srv/tree", source = "/root/tree", owner = "root", group = "root", mode = "0750" }`,
		`std.directory { "/srv/data", owner = "daemon", mode = "u=rwX,g=rX,o=", recurse = true }`,
		`std.directory { "/srv/data", source = "/root/tree", purge = true }`,
		`std.directory { "/srv/data", ensure = "absent", with_data = true }`,
	}},
	{typ: "known_host", ready: "mkdir -p /etc/ssh", sites: []string{`std.known_host { "git.example.org", key = "` + aKey + `" }`, `std.known_host { "git.example.org", ensure = "absent" }`}},
	{typ: "authorized_key", ready: "useradd -m olga", sites: []string{
		`std.authorized_key { "olga", key = "` + aKey + `" }`, `std.authorized_key { "olga", key = "` + aKey + `", ensure = "absent" }`,
	}},
	{typ: "git", ready: `export HOME=/root; git init -q -b main /srv/repo.git; cd /srv/repo.git; touch x; git add .
git -c user.name=t -c user.email=t@example.invalid commit -qm one; git -c user.name=t -c user.email=t@example.invalid commit -q --allow-empty -m two`, sites: []string{
		`std.git { "/srv/clone", url = "file:///srv/repo.git", ref = "main" }`, `std.git { "/srv/clone", ensure = "absent" }`,
	}},
	{typ: "alternative", ready: "mkdir -p /opt/bin; for n in one two; do printf '#!/bin/sh\\n' > /opt/bin/$n; chmod +x /opt/bin/$n; done", sites: []string{
		`std.alternative { "tool", path = "/opt/bin/one", link = "/usr/bin/tool", priority = 5 }`, `std.alternative { "tool", path = "/opt/bin/two", link = "/usr/bin/tool", priority = 1 }`,
		`std.alternative { "tool", ensure = "auto" }`, `std.alternative { "tool", path = "/opt/bin/one", ensure = "absent" }`,
	}},
	{typ: "apt_repo", ready: extraApt, sites: []string{
		`std.apt_repo { "extra", uris = "file:/srv/extra", suites = "./", trusted = true }`, `std.apt_repo { "extra", ensure = "absent" }`,
	}},
	{typ: "yum_repo", families: []string{rhel}, ready: extraRPM, sites: []string{
		`std.yum_repo { "extra", baseurl = "file:///srv/extra", gpgcheck = false }`, `std.yum_repo { "extra", ensure = "absent" }`,
	}},
	{typ: "zypper_repo", families: []string{suse}, ready: extraRPM, sites: []string{
		`std.zypper_repo { "extra", baseurl = "file:///srv/extra", gpgcheck = false }`, `std.zypper_repo { "extra", ensure = "absent" }`,
	}},
	{typ: "package_key", families: []string{debian, rhel, suse}, ready: "cp " + sites + "lua/test.asc /root", sites: []string{
		`std.package_key { "test", key = fs.read "test.asc" }`, `std.package_key { "test", key = fs.read "test.asc", ensure = "absent" }`,
	}},
	{typ: "language_package", ready: publishLanguages, sites: []string{
		`std.language_package { "demo-npm", manager = "npm", path = "/opt/project", source = "/root/demo-npm-1.0.0.tgz" }`,
		`std.language_package { "demo-gem", manager = "gem", path = "/opt/gems", source = "/root/demo-gem-1.0.0.gem", options = { "--local" } }`,
		`std.language_package { "Demo.Pkg", manager = "pip", path = "/opt/venv", source = "/root/demo_pkg-1.0.0-py3-none-any.whl", options = { "--no-index" } }`,
		`std.language_package { "demo-npm", manager = "npm", path = "/opt/project", ensure = "absent" }`,
	}},
	{typ: "language_package", anything: "a package may do anything when it is installed system-wide", sites: []string{
		`std.language_package { "demo-gem", manager = "gem", source = "/root/demo-gem-1.0.0.gem", options = { "--local" } }`,
	}},
	{typ: "wait_for", reads: true, ready: "touch /srv/there", sites: []string{`std.wait_for { "/srv/there" }`}},
}

const (
	selinuxReady = "command -v semanage > /dev/null || apt-get -qq -y install selinux-policy-default policycoreutils-python-utils > /dev/null 2>&1"
	extraApt     = "mkdir -p /srv/extra; cp /srv/ccm-lab/apt/ccm-demo_1.0* /srv/extra; cd /srv/extra; apt-ftparchive packages . > Packages; apt-ftparchive release . > Release"
	extraRPM     = "mkdir -p /srv/extra; cp /srv/ccm-lab/held/*.rpm /srv/extra; createrepo_c -q /srv/extra"
)

// besides are files that the machine writes besides, which no plan can know of, with the reason.
var besides = []struct{ file, reason string }{
	{`/etc/(passwd|shadow|group|gshadow|subuid|subgid)-`, "copies of account files that useradd and its relatives keep"},
	{`/var/lib/ccm(/.*)?`, "ccm's own record"},
	{`/run/systemd/(units|journal|users|transient|propagate|generator.*)(/.*)?`, "state of systemd"},
	{`/(run|var)/log/journal(/.*)?`, "the journal"},
	{`(/var)?/tmp/systemd-private-.*`, "private directories of services that systemd starts on demand, such as systemd-hostnamed"},
}

var isBesides = regexp.MustCompile(func() string {
	var list []string
	for _, x := range besides {
		list = append(list, x.file)
	}
	return "^(" + strings.Join(list, "|") + ")$"
}())

// seen returns the path by which this machine sees a file of the lab.
func (l *lab) seen(file string) string {
	l.t.Helper()
	record, err := os.ReadFile(filepath.Join(labDir(l.t), "run", l.name, "pid"))
	require.NoError(l.t, err)
	return "/proc/" + strings.Fields(string(record))[3] + "/root" + file
}

// written returns what was written since the boot, by path: kind, mode, owner, group, size, time and target of a link.
func (l *lab) written() map[string]string {
	l.t.Helper()
	record, err := os.ReadFile(filepath.Join(labDir(l.t), "run", l.name, "pid"))
	require.NoError(l.t, err)
	up := "/proc/" + strings.Fields(string(record))[0] + "/root" + filepath.Join(labDir(l.t), "run", l.name, "mnt/up")
	list := make(map[string]string)
	for _, top := range []struct{ seen, path string }{{up, ""}, {l.seen("/run"), "/run"}, {l.seen("/tmp"), "/tmp"}} {
		require.NoError(l.t, filepath.WalkDir(top.seen, func(at string, d fs.DirEntry, err error) error {
			if os.IsNotExist(err) { // removed meanwhile
				return nil
			}
			require.NoError(l.t, err)
			file := top.path + strings.TrimPrefix(at, top.seen)
			info, err := d.Info()
			if err != nil || file == top.path || isBesides.MatchString(file) {
				return nil
			}
			st, target := info.Sys().(*syscall.Stat_t), ""
			if info.Mode()&os.ModeSymlink != 0 {
				target, _ = os.Readlink(at)
			}
			list[file] = fmt.Sprint(info.Mode(), st.Uid, st.Gid, target)
			if !info.IsDir() {
				list[file] += fmt.Sprint(" ", info.Size(), info.ModTime())
			}
			return nil
		}))
	}
	return list
}

// expect returns resources that have nothing to do once the files of a lab are as they are now. Their contents are put into
// a directory of another lab.
func (l *lab) expect(changed []string, other *lab) (site string) {
	l.t.Helper()
	after := "/root/after/"
	require.NoError(l.t, os.RemoveAll(other.seen(after)))
	require.NoError(l.t, os.MkdirAll(other.seen(after), 0o755))
	guard := func(n int, words ...string) string {
		return fmt.Sprintf("exec { \"expect-%d\", command = { \"true\" }, unless = { \"%s\" } }\n", n, strings.Join(words, `", "`))
	}
	for n, file := range changed {
		info, err := os.Lstat(l.seen(file))
		switch {
		case os.IsNotExist(err):
			site += guard(n, "test", "!", "-e", file)
			continue
		case err == nil && info.IsDir():
			site += guard(n, "test", "-d", file)
			continue
		case err == nil && info.Mode()&os.ModeSymlink != 0:
			site += guard(n, "test", "-L", file)
			continue
		}
		require.NoError(l.t, err)
		require.True(l.t, info.Mode().IsRegular(), "%s: %s", file, info.Mode())
		text, err := os.ReadFile(l.seen(file))
		require.NoError(l.t, err)
		name, st := after+strconv.Itoa(n), info.Sys().(*syscall.Stat_t)
		require.NoError(l.t, os.WriteFile(other.seen(name), text, 0o644))
		site += fmt.Sprintf("file { %q, source = %q, owner = \"%d\", group = \"%d\", mode = \"%04o\" }\n", file, name, st.Uid, st.Gid, st.Mode&0o7777)
	}
	return site
}

// TestTypesLeave: the plan of each type knows what its run changes. One machine runs each site. Another one, which is the
// same, then plans the site with resources behind it that describe what the first machine has now: a plan that is certain
// of a change there does not know of it. A file that no type touches stays known.
func TestTypesLeave(t *testing.T) {
	nightly(t)
	files, err := fs.Glob(stdlib.Library, "std/*.lua")
	require.NoError(t, err)
	for _, file := range files {
		text, err := fs.ReadFile(stdlib.Library, file)
		require.NoError(t, err)
		typ := strings.TrimSuffix(path.Base(file), ".lua")
		require.Equal(t, strings.Contains(string(text), "return ccm.type"), slices.ContainsFunc(leavesRows, func(row leavesRow) bool { return row.typ == typ }),
			"%s is a type and has a row, or neither", file)
	}
	for _, family := range allFamilies {
		t.Run(family, func(t *testing.T) {
			t.Parallel()
			ran, planned := bootAs(t, "tl-ran-"+family, family), bootAs(t, "tl-planned-"+family, family)
			both := func(script string) {
				ran.sh(script)
				planned.sh(script)
			}
			if family == debian {
				for _, l := range []*lab{ran, planned} {
					l.bringGit()
					l.fromDebian("nftables", "openssh-client", "locales", "selinux-policy-default", "policycoreutils", "policycoreutils-python-utils")
				}
			}
			both("mkdir -p /mnt/root; mount --rbind / /mnt/root; touch /etc/control; echo 127.0.0.1 localhost > /etc/hosts")
			for _, row := range leavesRows {
				if !slices.Contains(append(row.families, debian)[:max(1, len(row.families))], family) {
					continue
				}
				t.Run(row.typ, func(t *testing.T) {
					both(row.ready)
					for _, site := range row.sites {
						row.compare(t, ran, planned, site)
					}
				})
			}
		})
	}
}

// compare runs a site of a row on one machine, compares the plan on another one with it, and runs it there too.
func (row leavesRow) compare(t *testing.T, ran, planned *lab, site string) {
	t.Helper()
	ccm := func(l *lab, command, text string) verdict {
		require.NoError(t, os.WriteFile(l.seen("/root/site.lua"), []byte(text), 0o644))
		argv := []string{"/opt/ccm/ccm", command, "--output", "json", "--detailed-exitcodes"}
		if row.image {
			argv = append(argv, "--root", "/mnt/root", "--state-dir", "/var/lib/ccm/image")
		}
		return l.verdict(l.exec(append(argv, "/root/site.lua")...))
	}
	did, would := "changed", "pending"
	if row.reads {
		did, would = "stable", "stable"
	}
	before := ran.written()
	first := ccm(ran, "run", site)
	if !assert.Equal(t, did, first.events[0].Outcome, "%s\n%s", site, first.events[0].Errors) {
		return
	}
	after, all := ran.written(), make(map[string]bool)
	for file := range maps.Keys(before) {
		all[file] = true
	}
	for file := range maps.Keys(after) {
		all[file] = true
	}
	var changed []string
	for _, file := range slices.Sorted(maps.Keys(all)) {
		if before[file] != after[file] && file != "/root/site.lua" {
			changed = append(changed, file)
		}
	}
	plan := ccm(planned, "plan", site+`
exec { "control", command = { "true" }, unless = { "test", "-e", "/etc/control" } }
`+ran.expect(changed, planned))
	assert.Equal(t, would, plan.events[0].Outcome, "%s\n%s", site, plan.events[0].Errors)
	if control := plan.event("exec#control").Outcome; row.anything == "" {
		assert.Equal(t, "stable", control, "%s: the plan assumes that anything may change", site)
		for i, ev := range plan.events[2:] {
			if ev.Outcome == "failed" || ev.Outcome == "pending" && (ev.Certain == nil || *ev.Certain) {
				t.Errorf("%s\nchanges %s, of which the plan does not know: %s %v %v", site, changed[i], ev.Outcome, ev.Diff, ev.Errors)
			}
		}
	} else {
		assert.Equal(t, "unknown", control, "%s: the plan knows what changes, although %s", site, row.anything)
	}
	second := ccm(planned, "run", site)
	assert.Equal(t, did, second.events[0].Outcome, "%s\n%s", site, second.events[0].Errors)
}
