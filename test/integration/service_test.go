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

// itSite is the step for a unit file and its service.
func itSite(args, file, service string) step {
	return step{site: "service/site.lua " + args, does: []string{itUnit + ": " + file, itService + ": " + service}}
}

// only is the step for an existing service.
func only(args, id, does string) step {
	return step{site: "service/only.lua " + args, does: []string{"service#" + id + ": " + does}}
}

// show returns a property of a unit.
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
	l.converge(s)
	l.is("it", "active", "enabled")
	l.says("one", starts)
	pid, since := l.show("it", "MainPID"), l.show("it", "ActiveEnterTimestampMonotonic")

	// Without a change it is the same process.
	l.converge(itSite("one running true", "stable", "stable"))
	require.Equal(t, pid, l.show("it", "MainPID"))
	require.Equal(t, since, l.show("it", "ActiveEnterTimestampMonotonic"))

	// A change restarts it once, with the new unit file.
	plan, run := l.converge(itSite("two running true", "Updated the file", "Restarted"))
	require.Contains(t, plan.event(itUnit).Text, "-Description=version one\n+Description=version two\n")
	require.Equal(t, []string{itUnit}, run.event(itService).RefreshedBy)
	l.says("one\ntwo", starts)
	require.NotEqual(t, pid, l.show("it", "MainPID"))
	require.NotEqual(t, since, l.show("it", "ActiveEnterTimestampMonotonic"))
	require.Equal(t, "version two", l.show("it", "Description"))
	require.Equal(t, "no", l.show("it", "NeedDaemonReload"))

	// Running and starting at boot are independent.
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

	// An unmanaged service is enabled and disabled, and runs or not as before.
	l.converge(only("it unmanaged false", "it", "Disabled"))
	l.is("it", "inactive", "disabled")
	l.sh("systemctl start it")
	l.converge(only("it unmanaged true", "it", "Enabled"))
	l.is("it", "active", "enabled")
	l.sh("systemctl stop it; sed -i '$ d' /run/it.starts")
	l.converge(only("it unmanaged true", "it", "stable"))
	l.is("it", "inactive", "enabled")

	// A service that is started is not restarted as well.
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
	s.errs = map[string][]string{"service#ccm-demo": {"expected the service running, found a masked one (unmask it with mask = false)"}}
	l.converge(s)
	s = only("ccm-demo stopped true", "ccm-demo", "failed")
	s.errs = map[string][]string{"service#ccm-demo": {"expected the service enabled, found a masked one (unmask it with mask = false)"}}
	l.converge(s)
	l.converge(only("ccm-demo stopped false", "ccm-demo", "stable"))
	l.is("ccm-demo", "inactive", "masked")

	// A service that was masked while running.
	l.sh("systemctl unmask -q ccm-demo; systemctl start ccm-demo; systemctl mask -q ccm-demo")
	l.converge(only("ccm-demo running", "ccm-demo", "stable"))
	l.converge(only("ccm-demo stopped", "ccm-demo", "Stopped"))
	l.is("ccm-demo", "inactive", "masked")
}

// A packaged service is masked, unmasked, and its earlier state is kept behind the mask.
func TestServiceMask(t *testing.T) {
	l := boot(t, debian)
	l.sh("apt-get -qq -y install ccm-demo-service > /dev/null; systemctl enable -q --now ccm-demo")
	mask := func(args, does string) step {
		return step{site: "service/mask.lua " + args, does: []string{"service#ccm-demo: " + does}}
	}
	l.converge(mask("true running", "Stopped. Masked"))
	l.is("ccm-demo", "inactive", "masked")
	l.converge(mask("true running", "stable"))
	l.sh("! systemctl start ccm-demo 2> /dev/null")
	l.converge(mask("false stopped true", "Unmasked"))
	l.is("ccm-demo", "inactive", "enabled")
	l.converge(mask("true unmanaged", "Masked"))
	l.converge(mask("false running false", "Unmasked. Started. Disabled"))
	l.is("ccm-demo", "active", "disabled")
	l.converge(mask("true unmanaged", "Masked"))
	l.is("ccm-demo", "active", "masked")
	l.converge(mask("true running", "Stopped"))
	l.sh("systemctl unmask -q ccm-demo; systemctl mask -q --runtime ccm-demo")
	l.converge(mask("false running", "Unmasked. Started"))
	l.is("ccm-demo", "active", "disabled")

	// A unit file of the administrator is at the path of the mask.
	l.sh("cp $(systemctl show -P FragmentPath ccm-demo) /etc/systemd/system/; systemctl daemon-reload")
	s := mask("true running", "failed")
	s.errs = map[string][]string{"service#ccm-demo": {"/etc/systemd/system/ccm-demo.service is where the mask would be"}}
	l.converge(s)
	l.is("ccm-demo", "active", "disabled")
}

// A unit that only others start counts as enabled.
func TestServiceStatic(t *testing.T) {
	l := boot(t, debian)
	l.write("/etc/systemd/system/fixed.service", []byte("[Service]\nExecStart=/bin/sleep infinity\n"))
	l.converge(only("fixed running true", "fixed", "Started"))
	l.is("fixed", "active", "static")
	s := only("fixed running false", "fixed", "failed")
	s.errs = map[string][]string{"service#fixed": {"expected enable = false, found the service static, which cannot be changed"}}
	l.converge(s)
	l.converge(only("fixed stopped", "fixed", "Stopped"))
	l.is("fixed", "inactive", "static")
}

// Instances of a template are separate services, and a unit has the name that systemd gives it.
func TestServiceNames(t *testing.T) {
	l := boot(t, debian)
	l.write("/root/it@.service", []byte("[Service]\nExecStart=/bin/sh -c 'echo %i >> /run/it.starts; exec sleep infinity'\n[Install]\nWantedBy=multi-user.target\n"))
	template := `/opt/ccm/ccm ensure unit it@.service `
	l.sh(template + `--content "$(cat /root/it@.service)"`)
	l.write(`/etc/systemd/system/srv-data\x2d1.mount`, []byte("[Mount]\nWhat=tmpfs\nWhere=/srv/data-1\nType=tmpfs\n[Install]\nWantedBy=multi-user.target\n"))
	l.converge(only("it@one running true", "it@one", "Started. Enabled"))
	l.converge(only("it@two unmanaged true", "it@two", "Enabled"))
	l.says("one", "cat /run/it.starts")
	l.is("it@one", "active", "enabled")
	l.is("it@two", "inactive", "enabled")
	l.converge(only("it@one stopped false", "it@one", "Stopped. Disabled"))
	l.is("it@one", "inactive", "disabled")
	l.is("it@two", "inactive", "enabled")
	l.sh("systemctl start it@two; echo >> /etc/systemd/system/it@.service") // systemd has not read it yet
	l.sh(template + `--content "$(cat /root/it@.service)"; systemctl show -P NeedDaemonReload it@two | grep no`)
	l.sh(template + `--ensure absent; systemctl is-active it@two && exit 1; ! ls /etc/systemd/system/*/it@*`)
	l.converge(only(`srv-data\x2d1.mount running true`, `srv-data\x2d1.mount`, "Started. Enabled"))
	l.sh("mountpoint -q /srv/data-1")
	l.converge(only(`srv-data\x2d1.mount stopped false`, `srv-data\x2d1.mount`, "Stopped. Disabled"))
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
		s.retry[service] = "Would have started"
	}
	s.does = append(s.does, "file#/etc/needs-it.conf: skipped")
	_, run := l.converge(s)
	require.Equal(t, []string{"service#dies-soon"}, run.event("file#/etc/needs-it.conf").UnmetRequirements)
	require.Equal(t, 4+2, run.status)
}

// A service that systemd restarts repeatedly does not run either.
func TestServiceFlaps(t *testing.T) {
	l := boot(t, debian)
	l.write("/etc/systemd/system/flaps.service", []byte("[Service]\nExecStart=/bin/false\nRestart=always\nRestartSec=1h\n"))
	run := l.ccm("run", only("flaps", "flaps", ""))
	require.Contains(t, run.event("service#flaps").Errors[0], "failed and keeps restarting")
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
	kinds := []string{"job.timer", "job.socket", "job.path", "mnt.mount", "all.target"}
	s := step{site: "kinds/site.lua", plan: map[string]string{}, flags: []string{"--debug"}}
	stop := step{site: "kinds/site.lua stopped"}
	for _, name := range []string{"job.service", "job.timer", "settings.service", "job.socket", "job.path", "mnt.mount", "all.target"} {
		s.does = append(s.does, "file#"+dir+name+": Created the file")
		stop.does = append(stop.does, "file#"+dir+name+": stable")
	}
	for _, name := range kinds {
		s.does = append(s.does, "service#"+name+": Started. Enabled")
		s.plan["service#"+name] = "unknown: the unit file " + dir + name + " is pending"
		stop.does = append(stop.does, "service#"+name+": Stopped. Disabled")
	}
	s.does = append(s.does, "service#settings: Started")
	stop.does = append(stop.does, "service#settings: Stopped")
	_, run := l.converge(s)
	require.Equal(t, 1, strings.Count(run.stderr, "systemctl daemon-reload"), "%s", run.stderr)
	for _, name := range kinds {
		l.is(name, "active", "enabled")
	}
	l.is("settings", "active", "static")
	l.sh("test -e /run/settings; ! test -e /run/job; test -S /run/job.socket; mountpoint -q /mnt")
	l.converge(stop)
	for _, name := range kinds {
		l.is(name, "inactive", "disabled")
	}
	l.sh("! mountpoint -q /mnt")
}

// The effect of a change on a service: it is the same process after a reload, and the plan equals the run.
func TestServiceReload(t *testing.T) {
	l := boot(t, debian)
	const conf, dir, starts, loads = "file#/etc/it.conf", "/etc/systemd/system/", "wc -l < /run/it.starts", "cat /run/it.loads"
	unit := func(reload string) {
		l.write(dir+"it.service", []byte("[Service]\nExecStart=/bin/sh -c 'echo >> /run/it.starts; exec sleep infinity'\n"+reload))
	}
	site := func(args, file, service string) step {
		return step{site: "reload/site.lua " + args, does: []string{conf + ": " + file, itService + ": " + service}}
	}
	unit("ExecReload=/bin/cp /etc/it.conf /run/it.loads\n")
	l.converge(site("one reload", "Created the file", "Started"))
	pid := l.show("it", "MainPID")
	_, run := l.converge(site("two reload", "Updated the file", "Reloaded"))
	require.Equal(t, []string{conf}, run.event(itService).RefreshedBy)
	l.says("two", loads)
	l.converge(site("three reload-or-restart", "Updated the file", "Reloaded"))
	l.says("three", loads)
	require.Equal(t, pid, l.show("it", "MainPID"))
	l.converge(site("three reload", "stable", "stable"))

	// A drop-in that systemd has not read makes it a restart, with which the drop-in takes effect.
	l.converge(step{site: "reload/site.lua four reload-or-restart COLOUR=red", does: []string{
		"file#" + dir + "it.service.d: Created directory", "file#" + dir + "it.service.d/env.conf: Created the file",
		conf + ": Updated the file", itService + ": Restarted",
	}})
	l.says("2", starts)
	l.says("three", loads)
	l.says("COLOUR=red", `tr '\0' '\n' < /proc/`+l.show("it", "MainPID")+`/environ | grep COLOUR`)

	// The reload fails: the service runs on, and the refresh stays pending.
	unit("ExecReload=/bin/sh -c 'echo bad configuration; exit 3'\n")
	l.sh("systemctl daemon-reload")
	failed := l.ccm("run", site("five reload", "", ""))
	require.Contains(t, failed.event(itService).Errors[0], "bad configuration")
	l.says("active", "systemctl is-active it")
	unit("ExecReload=/bin/cp /etc/it.conf /run/it.loads\n")
	l.sh("systemctl daemon-reload")
	require.True(t, l.ccm("run", site("five reload", "", "")).event(itService).Refreshed)
	l.says("five", loads)

	// A service that cannot reload fails without a change, or is restarted.
	unit("")
	l.sh("systemctl daemon-reload")
	s := site("five reload", "stable", "failed")
	s.errs = map[string][]string{itService: {"expected a service that can reload, found one that cannot"}}
	l.converge(s)
	l.converge(site("six reload-or-restart", "Updated the file", "Restarted"))
	l.says("3", starts)
}

// All services of one unit file are restarted when it changes, although systemd reads it for the first of them only.
func TestServicesReloadTogether(t *testing.T) {
	l := boot(t, debian)
	l.write("/root/site.lua", []byte(`
local unit = file { "/etc/systemd/system/it@.service", owner = "root", group = "root", mode = "0644",
  content = "[Service]\nExecReload=/bin/true\nExecStart=/bin/sleep " .. arg[1] .. "\n" }
exec { "systemctl daemon-reload", refreshonly = true, subscribe = unit }
service { "it@a", "it@b", on_change = "reload-or-restart", subscribe = unit, settle = "0s" }`))
	l.sh("/opt/ccm/ccm run /root/site.lua 1000")
	l.says("2", "/opt/ccm/ccm plan /root/site.lua 2000 | grep -c 'would restart'")
	l.says("2", "/opt/ccm/ccm run /root/site.lua 2000 | grep -c Restarted")
	l.says("2", "pgrep -fxc '/bin/sleep 2000'")
	l.says("2", "/opt/ccm/ccm undo | grep -c Restarted")
}
