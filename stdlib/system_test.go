package stdlib_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
)

// units simulates systemctl --root, which works on the links in a directory without a running systemd.
type units struct{ root string }

// Run implements host.Runner.
func (m units) Run(_ context.Context, c host.Cmd) (host.Result, error) {
	words := strings.Fields(strings.NewReplacer("--quiet", "", "-- ", "").Replace(strings.Join(c.Argv, " ")))
	if len(words) != 5 || words[0] != "systemctl" || words[1] != "--root" || words[2] != m.root {
		return host.Result{}, fmt.Errorf("no such command here: %s", c)
	}
	verb, unit := words[3], words[4]
	file := filepath.Join(m.root, "etc/systemd/system", unit)
	link := filepath.Join(m.root, "etc/systemd/system/timers.target.wants", unit)
	_, err := os.Stat(file)
	there := err == nil
	_, err = os.Lstat(link)
	enabled := err == nil
	switch {
	case !there && verb != "disable":
		return host.Result{Code: 1, Stderr: []byte("Failed to get unit file state for " + unit)}, nil
	case verb == "is-enabled" && enabled:
		return host.Result{Stdout: []byte("enabled\n")}, nil
	case verb == "is-enabled":
		return host.Result{Code: 1, Stdout: []byte("disabled\n")}, nil
	case verb == "enable":
		return host.Result{}, plant(m.root, map[string]string{"etc/systemd/system/timers.target.wants/" + unit: "->../" + unit})
	case verb == "disable":
		_ = os.Remove(link)
		return host.Result{}, nil
	}
	return host.Result{}, fmt.Errorf("no such command here: %s", c)
}

// withSystemctl puts an empty systemctl into the PATH, for host.which.
func withSystemctl(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(dir+"/systemctl", []byte("#!/bin/sh\nexit 1\n"), 0o755))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

func TestUnit(t *testing.T) {
	withSystemctl(t)
	const dir = "/etc/systemd/system/"
	suite{
		name: "unit", machine: func(root string) host.Runner { return units{root} },
		starts: map[string]map[string]string{
			"nothing":  {"/etc/": ""},
			"there":    {dir + "x.timer": "[Timer]\n"},
			"other":    {dir + "x.timer": "[Unit]\n"},
			"enabled":  {dir + "x.timer": "[Timer]\n", dir + "timers.target.wants/x.timer": "->../x.timer"},
			"dropin":   {dir + "x.timer.d/a.conf": "old\n"},
			"template": {dir + "x@.timer": "[Timer]\n"},
		},
		wants: map[string]string{
			"file":        `{ "x.timer", content = "[Timer]\n" }`,
			"enabled":     `{ "x.timer", content = "[Timer]\n", enable = true, active = true }`,
			"not":         `{ "x.timer", content = "[Timer]\n", enable = false }`,
			"dropin":      `{ "x a", unit = "x.timer", dropin = "a", content = "new\n" }`,
			"absent":      `{ "x.timer", ensure = "absent" }`,
			"template":    `{ "x@.timer", content = "[Timer]\n" }`,
			"no template": `{ "x@.timer", ensure = "absent" }`,
		},
		phrases: map[string][]string{
			"nothing/template": {"created the unit"}, "template/template": {}, "template/no template": {"removed the unit"},
			"nothing/file": {"created the unit"}, "there/file": {}, "there/enabled": {"updated the unit"}, "enabled/enabled": {}, "enabled/not": {"updated the unit"},
			"other/file": {"updated the unit"}, "dropin/dropin": {"updated the unit"}, "enabled/absent": {"removed the unit"}, "nothing/absent": {},
		},
		after: map[string]map[string]*string{
			"other/file":     {dir + "x.timer": new("[Timer]\n")},
			"dropin/dropin":  {dir + "x.timer.d/a.conf": new("new\n")},
			"enabled/absent": {dir + "x.timer": nil, dir + "timers.target.wants/x.timer": nil},
		},
	}.run(t)
	require.Equal(t, `site.lua:1:22: unit#x: name: expected a unit name with its suffix, such as app.service, got "x"`,
		mistake(t, `require "std.unit" { "x", content = "" }`))
	require.Equal(t, `site.lua:1:57: unit#x@.timer: enable: x@.timer is a template: only its instances can run (service { "x@NAME", enable = true })`,
		mistake(t, `require "std.unit" { "x@.timer", content = "", enable = true }`))
}

func TestTimer(t *testing.T) {
	withSystemctl(t)
	const dir = "/etc/systemd/system/"
	service := "[Unit]\nDescription=b\n\n[Service]\nType=oneshot\nExecStart=/bin/true a\n"
	timer := "[Unit]\nDescription=b\n\n[Timer]\nOnCalendar=daily\nPersistent=true\n\n[Install]\nWantedBy=timers.target\n"
	suite{
		name: "timer", machine: func(root string) host.Runner { return units{root} },
		starts: map[string]map[string]string{
			"nothing":  {"/etc/": ""},
			"right":    {dir + "b.service": service, dir + "b.timer": timer, dir + "timers.target.wants/b.timer": "->../b.timer"},
			"disabled": {dir + "b.service": service, dir + "b.timer": timer},
			"half":     {dir + "b.timer": timer},
			"other":    {dir + "b.service": strings.Replace(service, "true a", "false", 1), dir + "b.timer": timer + "# edited\n"},
		},
		wants: map[string]string{
			"daily":  `{ "b", command = "/bin/true a", schedule = "daily" }`,
			"full":   `{ "b", command = "/bin/true a", schedule = { "Mon 03:00", "Tue 04:00" }, user = "nobody", description = "Backs up", persistent = false, delay = "5m" }`,
			"absent": `{ "b", ensure = "absent" }`,
		},
		phrases: map[string][]string{
			"nothing/daily": {"created the timer"}, "right/daily": {}, "disabled/daily": {"updated the timer"}, "half/daily": {"updated the timer"},
			"other/daily": {"updated the timer"}, "right/absent": {"removed the timer"}, "nothing/absent": {},
		},
		after: map[string]map[string]*string{
			"other/daily": {dir + "b.service": new(service), dir + "b.timer": new(timer)},
			"right/full": {
				dir + "b.service": new("[Unit]\nDescription=Backs up\n\n[Service]\nType=oneshot\nExecStart=/bin/true a\nUser=nobody\n"),
				dir + "b.timer":   new("[Unit]\nDescription=Backs up\n\n[Timer]\nOnCalendar=Mon 03:00\nOnCalendar=Tue 04:00\nPersistent=false\nRandomizedDelaySec=5m\n\n[Install]\nWantedBy=timers.target\n"),
			},
			"right/absent": {dir + "b.service": nil, dir + "b.timer": nil, dir + "timers.target.wants/b.timer": nil},
		},
	}.run(t)
	require.Equal(t, `site.lua:1:38: timer#b: command: expected a command with an absolute path`, mistake(t, `require "std.timer" { "b", command = "true", schedule = "daily" }`))
	require.Equal(t, `site.lua:1:1: timer#b: schedule: is required unless ensure is absent`, mistake(t, `require "std.timer" { "b", command = "/bin/true" }`))
}

func TestCron(t *testing.T) {
	const job = "# Kept by ccm.\nMAILTO=ops\n30 3 * * * backup /bin/backup --all\n"
	suite{
		name: "cron",
		starts: map[string]map[string]string{
			"nothing": {"/etc/": ""},
			"right":   {"/etc/cron.d/b": job},
			"other":   {"/etc/cron.d/b": "# mine\n@daily root /bin/backup\n"},
			"more":    {"/etc/cron.d/b": job + "# and a remark\n"},
			"busybox": {"/usr/sbin/crond": "->/bin/busybox"},
		},
		fails: map[string]string{
			"busybox/job":   "cron of busybox does not read /etc/cron.d (install the package cronie, or add a std.line to /etc/crontabs/backup)",
			"busybox/daily": "add a std.line to /etc/crontabs/root", "busybox/signs": "add a std.line to /etc/crontabs/root",
		},
		wants: map[string]string{
			"job":    `{ "b", command = "/bin/backup --all", schedule = "30 3 * * *", user = "backup", environment = { MAILTO = "ops" } }`,
			"daily":  `{ "b", command = "/bin/backup", schedule = "@daily" }`,
			"absent": `{ "b", ensure = "absent" }`,
			"signs":  `{ "b", command = [[date +%F%% \%m %]], schedule = "@daily" }`,
		},
		phrases: map[string][]string{
			"nothing/signs": {"created the cron job"},
			"nothing/job":   {"created the cron job"}, "right/job": {}, "more/job": {"updated the cron job"}, "other/daily": {"updated the cron job"},
			"right/absent": {"removed the cron job"}, "nothing/absent": {},
		},
		after: map[string]map[string]*string{
			"other/job": {"/etc/cron.d/b": new(job)}, "right/daily": {"/etc/cron.d/b": new("# Kept by ccm.\n@daily root /bin/backup\n")},
			"more/absent": {"/etc/cron.d/b": nil}, "nothing/signs": {"/etc/cron.d/b": new("# Kept by ccm.\n@daily root date +\\%F\\%\\% \\%m \\%\n")},
		},
	}.run(t)
	require.Contains(t, mistake(t, `require "std.cron" { "a.b", ensure = "absent" }`), `cron#a.b: name: expected letters, digits, hyphens and underscores, got "a.b"`)
	require.Contains(t, mistake(t, `require "std.cron" { "b", command = "x", schedule = "daily" }`), `cron#b: schedule: expected five fields such as 30 3 * * *, or a word such as @daily, got "daily"`)
	for args, want := range map[string]string{
		`schedule = "99 3 * * *"`:                                        `schedule: minute must be 0 to 59, got "99"`,
		`schedule = "0 3 1-32 * *"`:                                      `schedule: day of the month must be 1 to 31, got "1-32"`,
		`schedule = "*/0 * * * *"`:                                       `schedule: minute must have a step of at least 1, after * or a range, got "*/0"`,
		`schedule = "5/10 * * * *"`:                                      `schedule: minute must have a step of at least 1, after * or a range, got "5/10"`,
		`schedule = "1-9/ * * * *"`:                                      `schedule: minute must have a step of at least 1`,
		`schedule = "1, * * * *"`:                                        `schedule: minute must be 0 to 59, got ""`,
		`schedule = "-1 * * * *"`:                                        `schedule: minute must be 0 to 59, got "-1"`,
		`schedule = "1 5-1 * * *"`:                                       `schedule: hour has a range that ends before it begins, got "5-1"`,
		`schedule = "1 2 0 * *"`:                                         `schedule: day of the month must be 1 to 31, got "0"`,
		`schedule = "1 2 * 0 *"`:                                         `schedule: month must be 1 to 12, got "0"`,
		`schedule = "1 2 3 foo *"`:                                       `schedule: month must be 1 to 12, got "foo"`,
		`schedule = "1 2 3 january *"`:                                   `schedule: month must be 1 to 12, got "january"`,
		`schedule = "1 2 * * 8"`:                                         `schedule: day of the week must be 0 to 7, got "8"`,
		`schedule = "1 2 mon * *"`:                                       `schedule: day of the month must be 1 to 31, got "mon"`,
		`schedule = "0 # * * *"`:                                         `schedule: hour must be 0 to 23, got "#"`,
		`schedule = "@daily", user = "a b"`:                              `user: expected a user name, got "a b"`,
		`schedule = "@daily", user = "root\0"`:                           `user: expected one line, got "root\x00"`,
		`schedule = "@daily", user = "A=b"`:                              `user: expected a user name, got "A=b"`,
		`schedule = "@daily", environment = { A = "1\0" }`:               `environment: expected one line for A, got`,
		`schedule = "@daily", environment = { A = "1\n@daily root x" }`:  `environment: expected one line for A, got`,
		`schedule = "@daily", environment = { ["A B"] = "1" }`:           `environment: expected names of letters, digits and underscores, got "A B"`,
		`schedule = "@daily", environment = { PATH = "$PATH:/opt/bin" }`: `environment: expected the final value of PATH (cron does not expand $PATH)`,
		`schedule = "@daily", environment = { A = "1 " }`:                `environment: expected a value of A without a trailing space`,
		`schedule = "@daily", environment = { A = [[ "'"]] }`:            `environment: expected a value of A that cron can read`,
	} {
		require.Contains(t, mistake(t, `require "std.cron" { "b", command = "x", `+args+` }`), "cron#b: "+want)
	}
	require.Contains(t, mistake(t, `require "std.cron" { "b", command = "x\0", schedule = "@daily" }`), `cron#b: command: expected one line`)
	require.Contains(t, mistake(t, `require "std.cron" { "b", command = " x", schedule = "@daily" }`), `cron#b: command: expected a line that does not begin with a space, got " x"`)
}

// crontab of Debian takes what is taken here.
func TestCronSchedules(t *testing.T) {
	check := func(schedule string) string {
		c := exec.Command("crontab", "-n", "-")
		c.Stdin = strings.NewReader(schedule + " true\n")
		out, _ := c.CombinedOutput()
		return string(out)
	}
	const passed = "successfully checked" // cronie has another -n
	judged := strings.Contains(check("* * * * *"), passed)
	for _, schedule := range []string{
		"* * * * *", "*/5 0-23/2 1,15 jan-mar,DEC 1-5", "0 0 31 12 7", "59 23 1 1 0", "1,2,3-9/3 * * * *", "*/100 * * * *", "05 * * * sat-sun", "1 2 * * Mon,wed",
		"0~30 * * * *", "@daily", "@reboot",
	} {
		require.Empty(t, mistake(t, fmt.Sprintf(`require "std.cron" { "b", command = "x", schedule = %q }`, schedule)), schedule)
		if judged {
			require.Contains(t, check(schedule), passed, schedule)
		}
	}
}

func TestSysctl(t *testing.T) {
	const conf = "/etc/sysctl.d/60-ccm.conf"
	suite{
		name: "sysctl",
		starts: map[string]map[string]string{
			"nothing": {"/etc/": ""},
			"right":   {conf: "# mine\nvm.swappiness = 10\n"},
			"other":   {conf: "vm.swappiness=60\nkernel.x = 1\n-vm.swappiness = 20\n"},
		},
		wants: map[string]string{
			"ten":    `{ "vm.swappiness", value = "10" }`,
			"words":  `{ "net.ipv4.range", value = "1 2" }`,
			"slash":  `{ "net/ipv4/conf/eth0.5/forwarding", value = "1" }`,
			"path":   `{ "vm.swappiness", value = "10", path = "/etc/sysctl.d/x.conf" }`,
			"absent": `{ "vm.swappiness", ensure = "absent" }`,
		},
		phrases: map[string][]string{
			"nothing/ten": {"set the kernel setting"}, "right/ten": {}, "other/ten": {"changed the kernel setting"},
			"other/absent": {"removed the kernel setting"}, "nothing/absent": {},
		},
		after: map[string]map[string]*string{
			"nothing/ten": {conf: new("vm.swappiness = 10\n")}, "other/ten": {conf: new("vm.swappiness = 10\nkernel.x = 1\n")},
			"other/absent": {conf: new("kernel.x = 1\n")}, "right/words": {conf: new("# mine\nvm.swappiness = 10\nnet.ipv4.range = 1 2\n")},
			"right/path": {"/etc/sysctl.d/x.conf": new("vm.swappiness = 10\n")},
		},
	}.run(t)
}

func TestAptRepo(t *testing.T) {
	const dir = "/etc/apt/sources.list.d/"
	full := "# Kept by ccm.\nTypes: deb\nURIs: https://apt.example.org\nSuites: bookworm\nComponents: main extra\nSigned-By: /etc/apt/keyrings/x.asc\n"
	suite{
		name: "apt_repo",
		starts: map[string]map[string]string{
			"nothing": {"/etc/": ""},
			"right":   {dir + "x.sources": full, "/etc/apt/keyrings/x.asc": "KEY\n"},
			"old key": {dir + "x.sources": full, "/etc/apt/keyrings/x.asc": "OLD\n"},
			"other":   {dir + "x.sources": "Types: deb deb-src\nURIs: http://other\nSuites: sid\nTrusted: yes\n"},
			"more":    {dir + "x.sources": full + "Enabled: no\n", "/etc/apt/keyrings/x.asc": "KEY\n"},
		},
		wants: map[string]string{
			"signed":  `{ "x", uris = "https://apt.example.org", suites = "bookworm", components = { "main", "extra" }, key = "KEY\n" }`,
			"trusted": `{ "x", uris = "file:/srv/apt", suites = "./", trusted = true }`,
			"file":    `{ "x", types = { "deb", "deb-src" }, uris = "http://other", suites = "sid", components = "main", signed_by = "/etc/k.asc", architectures = "amd64" }`,
			"absent":  `{ "x", ensure = "absent" }`,
		},
		phrases: map[string][]string{
			"nothing/signed": {"added the repository"}, "right/signed": {}, "old key/signed": {"updated the repository"}, "more/signed": {"updated the repository"},
			"other/trusted": {"updated the repository"}, "right/absent": {"removed the repository"}, "nothing/absent": {},
		},
		after: map[string]map[string]*string{
			"other/signed":  {dir + "x.sources": new(full), "/etc/apt/keyrings/x.asc": new("KEY\n")},
			"right/trusted": {dir + "x.sources": new("# Kept by ccm.\nTypes: deb\nURIs: file:/srv/apt\nSuites: ./\nTrusted: yes\n")},
			"nothing/file":  {dir + "x.sources": new("# Kept by ccm.\nTypes: deb deb-src\nURIs: http://other\nSuites: sid\nComponents: main\nArchitectures: amd64\nSigned-By: /etc/k.asc\n")},
			"right/absent":  {dir + "x.sources": nil, "/etc/apt/keyrings/x.asc": nil},
		},
	}.run(t)
	require.Contains(t, mistake(t, `require "std.apt_repo" { "x", uris = "http://a", suites = "s", key = "https://a/key.asc" }`), `apt_repo#x: key: expected the key itself, in ASCII armor, got a URL (download the key, check its fingerprint and give key = fs.read "files/x.asc")`)
	require.Contains(t, mistake(t, `require "std.apt_repo" { "x", uris = "http://a b", suites = "s" }`), `apt_repo#x: uris: expected words without blanks`)
	require.Contains(t, mistake(t, `require "std.apt_repo" { "x", uris = "", suites = "s" }`), `apt_repo#x: uris: expected a URL, got an empty string`)
	require.Contains(t, mistake(t, `require "std.apt_repo" { "x", uris = "http://a", suites = "" }`), `apt_repo#x: suites: expected words without blanks`)
	require.Contains(t, mistake(t, `require "std.apt_repo" { "x", uris = "http://a", suites = "s", types = "dbe" }`), `types: expected one of deb, deb-src, got "dbe" (did you mean "deb"?)`)
	require.Contains(t, mistake(t, `require "std.apt_repo" { "x", uris = "http://a" }`), `apt_repo#x: suites: is required unless ensure is absent`)
}

// The same repository in two files with different keys has apt read none at all.
func TestAptRepoTwice(t *testing.T) {
	const dir = "/etc/apt/sources.list.d/"
	const refused = "already has the repository http://apt.example.org/ stable with another value of Signed-By"
	suite{
		name: "apt_repo",
		starts: map[string]map[string]string{
			"list":      {dir + "old.list": "deb [arch=amd64 signed-by=/usr/share/keyrings/old.gpg] http://apt.example.org/ stable main\n"},
			"sources":   {dir + "old.sources": "# old\nTypes: deb\nURIs:\n http://x.org\n http://apt.example.org/\nSuites: testing stable\nsigned-by: /usr/share/keyrings/old.gpg\n"},
			"off":       {dir + "old.sources": "Enabled: no\nURIs: http://apt.example.org\nSuites: stable\nSigned-By: /o.gpg\n\nURIs: http://x.org\nSuites: stable\n"},
			"unsigned":  {dir + "y.list": "deb http://apt.example.org/ stable main\n"},
			"main list": {"/etc/apt/sources.list": "#deb [trusted=yes] http://apt.example.org stable extra\ndeb http://apt.example.org stable extra\n"},
			"same key":  {dir + "y.list": "deb [signed-by=/k.gpg] http://apt.example.org/ stable main\n"},
		},
		wants: map[string]string{
			"keyed":   `{ "x", uris = "http://apt.example.org", suites = "stable", components = "main", signed_by = "/k.gpg" }`,
			"trusted": `{ "x", uris = "http://apt.example.org", suites = { "stable" }, components = "main", trusted = true }`,
			"absent":  `{ "x", ensure = "absent" }`,
			"another": `{ "x", uris = "http://apt.example.org", suites = "sid", components = "main", signed_by = "/k.gpg" }`,
		},
		fails: map[string]string{
			"list/keyed": dir + "old.list " + refused, "sources/keyed": dir + "old.sources " + refused, "unsigned/keyed": dir + "y.list " + refused,
			"list/trusted": "another value of", "sources/trusted": "another value of", "unsigned/trusted": "another value of Trusted", "same key/trusted": "another value of",
		},
	}.run(t)
}

func TestHost(t *testing.T) {
	const local = "127.0.0.1\tlocalhost\n::1 localhost ip6-localhost\n# 192.0.2.1 db.org\n"
	suite{
		name: "host",
		starts: map[string]map[string]string{
			"missing": {"/etc/hosts": local},
			"right":   {"/etc/hosts": local + "192.0.2.10\tDB.org db # mine\n"},
			"other":   {"/etc/hosts": local + "192.0.2.11 db.org old # mine\n2001:DB8::0:11 db.org\n"},
			"alias":   {"/etc/hosts": "127.0.0.1 localhost db.org db # mine\n192.0.2.10 web.org db"},
			"twice":   {"/etc/hosts": "192.0.2.10 db.org db\n192.0.2.11 db.org\n"},
			"nothing": {"/etc/": ""},
		},
		wants: map[string]string{
			"plain":  `{ "db.org", ip = "192.0.2.10" }`,
			"alias":  `{ "db.org", ip = "192.0.2.10", aliases = { "db" } }`,
			"none":   `{ "db.org", ip = "192.0.2.10", aliases = {} }`,
			"again":  `{ "db.org", ip = "192.0.2.10", aliases = { "db", "DB.org", "DB" } }`,
			"six":    `{ "six", host = "db.org", ip = "2001:db8:0::11" }`,
			"absent": `{ "db.org", ensure = "absent" }`,
			"four":   `{ "db.org", ip = "192.0.2.99", ensure = "absent" }`,
		},
		fails: map[string]string{
			"nothing/plain": "expected a file to edit", "nothing/alias": "expected a file to edit", "nothing/again": "expected a file to edit", "nothing/none": "expected a file to edit", "nothing/six": "expected a file to edit",
		},
		phrases: map[string][]string{
			"missing/plain": {"added the host"}, "right/plain": {}, "right/alias": {}, "right/again": {}, "right/none": {"changed the host"}, "other/plain": {"changed the host"},
			"other/six": {}, "twice/plain": {"changed the host"}, "alias/plain": {"added the host"}, "right/absent": {"removed the host"}, "missing/absent": {},
		},
		after: map[string]map[string]*string{
			"missing/alias": {"/etc/hosts": new(local + "192.0.2.10\tdb.org db\n")},
			"missing/again": {"/etc/hosts": new(local + "192.0.2.10\tdb.org db\n")},
			"missing/six":   {"/etc/hosts": new(local + "2001:db8::11\tdb.org\n")},
			"right/none":    {"/etc/hosts": new(local + "192.0.2.10\tdb.org # mine\n")},
			"other/plain":   {"/etc/hosts": new(local + "192.0.2.10\tdb.org old # mine\n2001:DB8::0:11 db.org\n")},
			"alias/alias":   {"/etc/hosts": new("127.0.0.1\tlocalhost # mine\n192.0.2.10\tweb.org\n192.0.2.10\tdb.org db\n")},
			"alias/absent":  {"/etc/hosts": new("127.0.0.1\tlocalhost db # mine\n192.0.2.10 web.org db")},
			"twice/plain":   {"/etc/hosts": new("192.0.2.10 db.org db\n")},
			"other/absent":  {"/etc/hosts": new(local)},
			"other/four":    {"/etc/hosts": new(local + "2001:DB8::0:11 db.org\n")},
		},
	}.run(t)
	for args, want := range map[string]string{
		`"db"`:                     `host#db: ip: is required unless ensure is absent`,
		`{ "db", ip = "192.0.2" }`: `host#db: ip: expected an address such as 192.0.2.10 or 2001:db8::10, got "192.0.2"`,
		`{ "db", ip = "fe80::1%a\n192.0.2.1 bank" }`: `host#db: ip: expected an address such as`,
		`{ "db", ip = "fe80::1%a b" }`:               `host#db: ip: expected an address such as`,
		`{ "d b", ip = "::1" }`:                      `host#d b: name: expected a host name, got "d b"`,
		`{ "db", ip = "::1", aliases = { "a#b" } }`:  `host#db: aliases: expected host names, got "a#b"`,
	} {
		require.Contains(t, mistake(t, `require "std.host" `+args), want)
	}
}

func TestKernelModule(t *testing.T) {
	const load, options = "/etc/modules-load.d/nf_x.conf", "/etc/modprobe.d/nf_x.conf"
	const head = "# Kept by ccm.\n"
	suite{
		name: "kernel_module",
		starts: map[string]map[string]string{
			"nothing": {"/etc/": ""},
			"right":   {load: head + "nf_x\n", options: head + "options nf_x size=1\n"},
			"other":   {load: "nf_y\n", options: "options nf_x  size=1 \n"},
		},
		wants: map[string]string{
			"plain":   `"nf_x"`,
			"options": `{ "nf_x", options = "size=1" }`,
			"more":    `{ "nf_x", options = "size=2 debug" }`,
			"absent":  `{ "nf_x", ensure = "absent" }`,
		},
		phrases: map[string][]string{
			"nothing/plain": {"added the module"}, "right/plain": {}, "right/options": {}, "right/more": {"updated the module"},
			"other/plain": {"updated the module"}, "other/options": {"updated the module"}, "right/absent": {"removed the module"}, "nothing/absent": {},
		},
		after: map[string]map[string]*string{
			"nothing/options": {load: new(head + "nf_x\n"), options: new(head + "options nf_x size=1\n")},
			"nothing/plain":   {load: new(head + "nf_x\n"), options: nil},
			"other/plain":     {load: new(head + "nf_x\n"), options: new("options nf_x  size=1 \n")},
			"right/more":      {options: new(head + "options nf_x size=2 debug\n")},
			"right/absent":    {load: nil, options: nil},
			"other/absent":    {load: nil, options: new("options nf_x  size=1 \n")},
		},
	}.run(t)
	for args, want := range map[string]string{
		`"a b"`:                           `kernel_module#a b: name: expected a module name such as br_netfilter, got "a b"`,
		`{ "a", options = "x\ninstall" }`: `kernel_module#a: options: expected one line`,
	} {
		require.Contains(t, mistake(t, `require "std.kernel_module" `+args), want)
	}
}

func TestTimezone(t *testing.T) {
	const berlin, rome = "/usr/share/zoneinfo/Europe/Berlin", "/usr/share/zoneinfo/Europe/Rome"
	suite{
		name: "timezone",
		starts: map[string]map[string]string{
			"none":     {berlin: "B", "/etc/": ""},
			"right":    {berlin: "B", "/etc/localtime": "->" + berlin, "/etc/timezone": "Europe/Berlin\n"},
			"relative": {berlin: "B", "/etc/localtime": "->.." + berlin},
			"other":    {berlin: "B", rome: "R", "/etc/localtime": "->" + rome, "/etc/timezone": "Europe/Rome\n"},
			"half":     {berlin: "B", "/etc/localtime": "->" + berlin, "/etc/timezone": "Europe/Rome\n"},
			"copy":     {berlin: "B", "/etc/localtime": "B"},
			"nothing":  {"/usr/share/zoneinfo/Europe/Berlin/": ""},
		},
		wants: map[string]string{"berlin": `"Europe/Berlin"`},
		fails: map[string]string{"nothing/berlin": "no such time zone Europe/Berlin in /usr/share/zoneinfo/ (install the package tzdata)"},
		phrases: map[string][]string{
			"none/berlin": {"set the time zone"}, "right/berlin": {}, "relative/berlin": {}, "other/berlin": {"set the time zone"}, "half/berlin": {"set the time zone"}, "copy/berlin": {"set the time zone"},
		},
		after: map[string]map[string]*string{
			"none/berlin":  {"/etc/timezone": nil},
			"other/berlin": {"/etc/timezone": new("Europe/Berlin\n")}, "half/berlin": {"/etc/timezone": new("Europe/Berlin\n")},
		},
	}.run(t)
	require.Contains(t, mistake(t, `require "std.timezone" "../x"`), `timezone#../x: name: expected a time zone such as Europe/Berlin, got "../x"`)
}

func TestHostname(t *testing.T) {
	const file = "/etc/hostname"
	suite{
		name: "hostname",
		starts: map[string]map[string]string{
			"none":    {"/etc/": ""},
			"right":   {file: "# mine\n web1.example.org \n"},
			"other":   {file: "# web1.example.org\nweb2\n"},
			"comment": {file: "# web1.example.org\n"},
		},
		wants: map[string]string{"web1": `"web1.example.org"`},
		phrases: map[string][]string{
			"none/web1": {"set the host name"}, "right/web1": {}, "other/web1": {"set the host name"}, "comment/web1": {"set the host name"},
		},
		after: map[string]map[string]*string{
			"none/web1": {file: new("web1.example.org\n")}, "other/web1": {file: new("web1.example.org\n")}, "right/web1": {file: new("# mine\n web1.example.org \n")},
		},
	}.run(t)
	for _, name := range []string{"web_1", "-web", "web..org", "web\nx", strings.Repeat("a", 65)} {
		require.Contains(t, mistake(t, `require "std.hostname" { `+fmt.Sprintf("%q", name)+` }`), "name: expected a name of letters, digits, hyphens and dots, of at most 64 characters")
	}
}

// TestLinksOfUnits: a plan knows the links of a unit that is enabled by its text, or not at all.
func TestLinksOfUnits(t *testing.T) {
	for text, want := range map[string]string{
		"[Install]\nWantedBy=a.target b.target\n": "/etc/systemd/system/a.target.wants/x.service /etc/systemd/system/b.target.wants/x.service",
		"[Install]\nAlias=y.service\n":            "/etc/systemd/system/y.service",
		"[Install]\nRequiredBy=a.target\n":        "/etc/systemd/system/a.target.requires/x.service",
		"[Service]\nExecStart=/bin/true\n":        "",
		"[Install]\nAlso=y.socket\n":              "nil",
		"[Install]\nWantedBy=%i.target\n":         "nil",
		"[Install]\nWantedBy=a.target \\\nb\n":    "nil",
	} {
		site := `local links = require("std.systemd").links("x.service", ` + strconv.Quote(text) + `)
error("links: " .. (links and str.join(tbl.map(links, function(l) return l.path end), " ") or "nil"), 0)`
		require.Equal(t, strings.TrimSpace("links: "+want), strings.TrimSpace(strings.TrimPrefix(mistake(t, site), "site.lua:2:1: ")), text)
	}
}
