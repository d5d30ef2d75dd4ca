//go:build integration

package integration

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	itUnit    = "file#/etc/systemd/system/it.service"
	itService = "service#it"
)

// itSite is the step that wishes a unit file and its service.
func itSite(args, file, service string) step {
	return step{site: "service/site.lua " + args, does: []string{itUnit + ": " + file, itService + ": " + service}}
}

// only is the step that wishes something of a service that is there.
func only(args, id, does string) step {
	return step{site: "service/only.lua " + args, does: []string{"service#" + id + ": " + does}}
}

// show prints a property of a unit.
func (l *lab) show(unit, property string) string {
	l.t.Helper()
	return l.sh("systemctl show --value -p " + property + " " + unit)
}

// is checks whether a unit runs and starts at boot.
func (l *lab) is(unit, active, enabled string) {
	l.t.Helper()
	l.says(active+"\n"+enabled, "systemctl is-active "+unit+" || :; systemctl is-enabled "+unit+" || :")
}

func TestService(t *testing.T) {
	l := boot(t, debian)
	const starts = "cat /run/it.starts"

	// Written and started in one run.
	s := itSite("one running true", "Created the file", "Started. Enabled")
	s.plan = map[string]string{itService: "unknown: the unit file /etc/systemd/system/it.service is pending"}
	l.converge(s)
	l.is("it", "active", "enabled")
	l.says("one", starts)
	pid, since := l.show("it", "MainPID"), l.show("it", "ActiveEnterTimestampMonotonic")

	// Nothing changed since: it is the same process.
	l.converge(itSite("one running true", "stable", "stable"))
	require.Equal(t, pid, l.show("it", "MainPID"))
	require.Equal(t, since, l.show("it", "ActiveEnterTimestampMonotonic"))

	// A change restarts it, once, by the new unit file.
	plan, run := l.converge(itSite("two running true", "Updated the file", "Restarted"))
	require.Contains(t, plan.event(itUnit).Text, "-Description=version one\n+Description=version two\n")
	require.Equal(t, []string{itUnit}, run.event(itService).RefreshedBy)
	l.says("one\ntwo", starts)
	require.NotEqual(t, pid, l.show("it", "MainPID"))
	require.NotEqual(t, since, l.show("it", "ActiveEnterTimestampMonotonic"))
	require.Equal(t, "version two", l.show("it", "Description"))
	require.Equal(t, "no", l.show("it", "NeedDaemonReload"))

	// Whether it runs and whether it starts at boot are independent.
	l.converge(itSite("two stopped true", "stable", "Stopped"))
	l.is("it", "inactive", "enabled")
	l.converge(itSite("three stopped true", "Updated the file", "stable"))
	l.is("it", "inactive", "enabled")
	l.converge(itSite("three running false", "stable", "Started. Disabled"))
	l.is("it", "active", "disabled")
	l.converge(itSite("three running", "stable", "stable"))
	l.converge(itSite("three stopped true", "stable", "Stopped. Enabled"))
	l.is("it", "inactive", "enabled")
	l.says("one\ntwo\nthree", starts)

	// What is started is not restarted as well.
	_, run = l.converge(itSite("four running", "Updated the file", "Started"))
	require.False(t, run.event(itService).Refreshed)
	l.says("one\ntwo\nthree\nfour", starts)

	// It was killed.
	l.sh("kill -9 " + l.show("it", "MainPID"))
	l.until("systemd noticed", "systemctl -q is-failed it")
	l.converge(itSite("four running", "stable", "Started"))
	l.is("it", "active", "enabled")
	l.says("one\ntwo\nthree\nfour\nfour", starts)
}

func TestServiceRestartedOnce(t *testing.T) {
	l := boot(t, debian)
	require.Zero(t, l.ccm("run", itSite("one", "", "")).summary.Failed)
	const conf, dropin = "file#/etc/it.conf", "file#/etc/systemd/system/it.service.d/colour.conf"
	l.converge(step{site: "dropin/site.lua red", does: []string{
		"file#/etc/systemd/system/it.service.d: Created directory",
		dropin + ": Created the file", conf + ": Created the file", itService + ": Restarted",
	}})
	l.says("one\none", "cat /run/it.starts")
	_, run := l.converge(step{site: "dropin/site.lua blue", does: []string{
		"file#/etc/systemd/system/it.service.d: stable",
		dropin + ": Updated the file", conf + ": Updated the file", itService + ": Restarted",
	}})
	require.Equal(t, []string{dropin, conf}, run.event(itService).RefreshedBy)
	l.says("one\none\none", "cat /run/it.starts")
	l.says("COLOUR=blue", `tr '\0' '\n' < /proc/`+l.show("it", "MainPID")+`/environ | grep COLOUR`)
}

func TestServiceMasked(t *testing.T) {
	l := boot(t, debian)
	l.sh("apt-get -qq -y install ccm-demo-service > /dev/null; systemctl mask -q ccm-demo")
	s := only("ccm-demo running", "ccm-demo", "failed")
	s.errs = map[string][]string{"service#ccm-demo": {"want the service running, found it masked: it has to be unmasked first"}}
	l.converge(s)
	s = only("ccm-demo stopped true", "ccm-demo", "failed")
	s.errs = map[string][]string{"service#ccm-demo": {"want the service enabled, found it masked"}}
	l.converge(s)
	l.converge(only("ccm-demo stopped false", "ccm-demo", "stable"))
	l.is("ccm-demo", "inactive", "masked")

	// One that was masked while it ran.
	l.sh("systemctl unmask -q ccm-demo; systemctl start ccm-demo; systemctl mask -q ccm-demo")
	l.converge(only("ccm-demo running", "ccm-demo", "stable"))
	l.converge(only("ccm-demo stopped", "ccm-demo", "Stopped"))
	l.is("ccm-demo", "inactive", "masked")
}

// A unit that only others start counts as enabled.
func TestServiceStatic(t *testing.T) {
	l := boot(t, debian)
	l.write("/etc/systemd/system/fixed.service", []byte("[Service]\nExecStart=/bin/sleep infinity\n"))
	l.converge(only("fixed running true", "fixed", "Started"))
	l.is("fixed", "active", "static")
	s := only("fixed running false", "fixed", "failed")
	s.errs = map[string][]string{"service#fixed": {"want enable = false, found the service static, which cannot be changed"}}
	l.converge(s)
	l.converge(only("fixed stopped", "fixed", "Stopped"))
	l.is("fixed", "inactive", "static")
}

func TestServiceDies(t *testing.T) {
	l := boot(t, debian)
	s := step{
		site: "dies/site.lua",
		plan: map[string]string{"file#/etc/needs-it.conf": "Would have created the file"},
		errs: map[string][]string{
			"service#dies-at-once": {"the service was started and failed (result exit-code, exit status 3)", "cannot find my config"},
			"service#dies-soon":    {"the service was started and failed (result exit-code, exit status 4)"},
			"service#dies-signal":  {"(result signal, signal 9)"},
			"service#dies-missing": {"(result exit-code, exit status 203)"},
			"service#dies-oneshot": {"(result exit-code, exit status 1)"},
		},
		retry: map[string]string{},
	}
	for _, name := range []string{"at-once", "soon", "signal", "missing", "oneshot"} {
		file, service := "/etc/systemd/system/dies-"+name+".service", "service#dies-"+name
		s.does = append(s.does, "file#"+file+": Created the file", service+": failed")
		s.plan[service] = "unknown: the unit file " + file + " is pending"
		s.retry[service] = "Would have started"
	}
	s.does = append(s.does, "file#/etc/needs-it.conf: skipped")
	_, run := l.converge(s)
	require.Equal(t, []string{"service#dies-soon"}, run.event("file#/etc/needs-it.conf").UnmetRequirements)
	require.Equal(t, 4+2, run.status)
}

// One that systemd starts again and again does not run either.
func TestServiceFlaps(t *testing.T) {
	l := boot(t, debian)
	l.write("/etc/systemd/system/flaps.service", []byte("[Service]\nExecStart=/bin/false\nRestart=always\nRestartSec=1h\n"))
	run := l.ccm("run", only("flaps", "flaps", ""))
	require.Contains(t, run.event("service#flaps").Errors[0], "is being started again and again")
}

func TestServiceMissing(t *testing.T) {
	l := boot(t, debian)
	s := only("nonesuch", "nonesuch", "failed")
	s.errs = map[string][]string{"service#nonesuch": {"service not found: nonesuch"}}
	l.converge(s)
}

func TestServiceKinds(t *testing.T) {
	l := boot(t, debian)
	const dir = "/etc/systemd/system/"
	s := step{site: "kinds/site.lua", plan: map[string]string{}, flags: []string{"--debug"}}
	for _, name := range []string{"job.service", "job.timer", "settings.service"} {
		s.does = append(s.does, "file#"+dir+name+": Created the file")
	}
	for _, x := range [][3]string{
		{"job.timer", "Started. Enabled", "job.timer"}, {"settings", "Started", "settings.service"},
	} {
		s.does = append(s.does, "service#"+x[0]+": "+x[1])
		s.plan["service#"+x[0]] = "unknown: the unit file " + dir + x[2] + " is pending"
	}
	_, run := l.converge(s)
	require.Equal(t, 1, strings.Count(run.stderr, "systemctl daemon-reload"), "%s", run.stderr)
	l.is("job.timer", "active", "enabled")
	l.is("settings", "active", "static")
	l.sh("test -e /run/settings; ! test -e /run/job")
}
