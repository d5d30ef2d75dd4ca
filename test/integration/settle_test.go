//go:build integration

package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// unit writes a service and reloads systemd.
func (l *lab) unit(name string, lines ...string) {
	l.t.Helper()
	l.write("/etc/systemd/system/"+name, []byte("[Service]\n"+strings.Join(lines, "\n")+"\n"))
	l.sh("systemctl daemon-reload")
}

// settles runs the site of services that need to stay up, and returns the result.
func (l *lab) settles(settle string, names ...string) verdict {
	l.t.Helper()
	return l.ccm("run", step{site: "service/settle.lua " + settle + " " + strings.Join(names, " ")})
}

// A service that does not stay up was not started, whatever systemctl reports.
func TestServiceFalls(t *testing.T) {
	l := boot(t, debian)
	soon := "ExecStart=/bin/sh -c '%s sleep 0.3; echo no such database >&2; exit 3'"
	for _, x := range []struct {
		name  string
		lines []string
		errs  []string
	}{
		{"simple", []string{fmt.Sprintf(soon, "")},
			[]string{"the service was started and failed (result exit-code, exit status 3)", "no such database"}},
		{"exec", []string{"Type=exec", fmt.Sprintf(soon, "")},
			[]string{"the service was started and failed (result exit-code, exit status 3)", "no such database"}},
		{"notify", []string{"Type=notify", "NotifyAccess=all", fmt.Sprintf(soon, "systemd-notify --ready;")},
			[]string{"the service was started and failed (result exit-code, exit status 3)", "no such database"}},
		{"at-once", []string{"ExecStart=/bin/false"},
			[]string{"the service was started and failed (result exit-code, exit status 1)"}},
		{"killed", []string{"ExecStart=/bin/sh -c 'sleep 0.3; kill -9 $$$$'"},
			[]string{"the service was started and failed (result signal, signal 9)"}},
		{"clean", []string{"ExecStart=/bin/sleep 0.3"},
			[]string{"the service was started and is not running"}},
		{"oneshot", []string{"Type=oneshot", "ExecStart=/bin/true"},
			[]string{"the service ran to its end: a oneshot service without RemainAfterExit=yes is never running (to only enable it: ensure = \"unmanaged\", enable = true)"}},
		{"late", []string{"ExecStart=/bin/sh -c 'sleep 1.5; echo no such database >&2; exit 3'"},
			[]string{"the service was started and failed (result exit-code, exit status 3)", "no such database"}},
		{"flaps", []string{"Restart=always", "RestartSec=100ms", fmt.Sprintf(soon, "")},
			[]string{"the service was started, failed and keeps restarting", "no such database"}},
		{"flaps-at-once", []string{"Restart=always", "RestartSec=0", fmt.Sprintf(soon, "")},
			[]string{"the service was started, failed and keeps restarting", "no such database"}},
		{"flaps-cleanly", []string{"Restart=always", "RestartSec=0", "ExecStart=/bin/sleep 0.3"},
			[]string{"the service was started, failed and keeps restarting"}},
	} {
		l.unit(x.name+".service", x.lines...)
		settle := map[bool]string{true: "3s", false: "1s"}[x.name == "late"]
		run := l.settles(settle, x.name)
		require.Equal(t, []string{"service#" + x.name + ": failed"}, story(run), "%s", run)
		require.Equal(t, 4, run.status)
		for _, words := range x.errs {
			require.Contains(t, run.event("service#" + x.name).Errors[0], words, x.name)
		}
		l.sh("systemctl stop " + x.name)
	}

	// A service that falls after a restart has its refresh still pending.
	require.Equal(t, []string{itUnit + ": Created the file", itService + ": Started. Enabled"}, story(l.ccm("run", itSite("one running true", "", ""))))
	l.sh(`mkdir -p /etc/systemd/system/it.service.d
		printf '[Service]\nExecStart=\nExecStart=/bin/sh -c "sleep 0.3; exit 5"\n' > /etc/systemd/system/it.service.d/falls.conf`)
	run := l.ccm("run", itSite("two running true", "", ""))
	require.Equal(t, []string{itUnit + ": Updated the file", itService + ": failed"}, story(run), "%s", run)
	require.Contains(t, l.sh("/opt/ccm/ccm history --pending"), itService)
	l.sh("rm -r /etc/systemd/system/it.service.d")
	run = l.ccm("run", itSite("two running true", "", ""))
	require.Equal(t, []string{itUnit + ": stable", itService + ": Started"}, story(run), "%s", run)
	require.NotContains(t, l.sh("/opt/ccm/ccm history --pending"), itService)
}

// A service that stays up, or has no process, was started.
func TestServiceSettles(t *testing.T) {
	l := boot(t, debian)
	l.unit("exited.service", "Type=oneshot", "RemainAfterExit=yes", "ExecStart=/bin/true")
	l.unit("up.service", "ExecStart=/bin/sleep infinity")
	l.unit("ready.service", "Type=notify", "NotifyAccess=all", "ExecStart=/bin/sh -c 'systemd-notify --ready; sleep infinity'")
	l.unit("forks.service", "Type=forking", "ExecStart=/bin/sh -c 'sleep infinity &'")
	l.unit("reloads.service", "ExecStart=/bin/sleep infinity", "ExecReload=/bin/sleep 2")
	l.unit("called.service", "ExecStart=/bin/sleep infinity")
	l.write("/etc/systemd/system/called.socket", []byte("[Socket]\nListenStream=/run/called\n"))
	l.sh("systemctl daemon-reload")
	all := []string{"exited", "up", "ready", "forks", "reloads", "called.socket", "called"}
	var started, stable []string
	for _, name := range all {
		started, stable = append(started, "service#"+name+": Started"), append(stable, "service#"+name+": stable")
	}
	run := l.settles("1s", all...)
	require.Equal(t, started, story(run), "%s", run)

	// A service during a reload is up.
	reload := l.start("systemctl", "reload", "reloads")
	l.until("it is being reloaded", "systemctl show -p ActiveState reloads | grep -q reloading")
	require.Equal(t, stable, story(l.settles("1s", all...)))
	_, err := reload()
	require.NoError(t, err)

	// Without settle, a later failure is not noticed.
	l.unit("falls.service", "ExecStart=/bin/sleep 2")
	require.Equal(t, []string{"service#falls: Started"}, story(l.settles("0", "falls")))
}

// Consecutive services settle at the same time, and running ones are not waited for.
func TestServicesSettleTogether(t *testing.T) {
	l := boot(t, debian)
	var names, started []string
	for i := range 20 {
		name := fmt.Sprint("s", i)
		l.write("/etc/systemd/system/"+name+".service", []byte("[Service]\nExecStart=/bin/sleep infinity\n"))
		names, started = append(names, name), append(started, "service#"+name+": Started")
	}
	l.sh("systemctl daemon-reload")
	began := time.Now()
	require.Equal(t, started, story(l.settles("3s", names...)))
	took := time.Since(began)
	t.Logf("20 services that have to stay up for 3s were started in %.1fs", took.Seconds())
	require.Less(t, took, 40*time.Second, "they were waited for one after the other")
}

// A service that systemd restarts again and again was up for its settle time, and is not stable in the next run.
func TestServiceKeepsFlapping(t *testing.T) {
	l := boot(t, debian)
	l.unit("flaps.service", "Restart=always", "RestartSec=0", "ExecStart=/bin/sh -c 'sleep 1.5; echo no such database >&2; exit 3'")
	l.sh("mkdir -p /etc/systemd/system/flaps.service.d; printf '[Unit]\nStartLimitIntervalSec=0\n' > /etc/systemd/system/flaps.service.d/a.conf; systemctl daemon-reload")
	require.Equal(t, []string{"service#flaps: Started"}, story(l.settles("300ms", "flaps")))
	l.until("it was restarted", "test $(systemctl show -P NRestarts flaps) -ge 3")
	for _, command := range []string{"plan", "run"} {
		again := l.ccm(command, step{site: "service/settle.lua 300ms flaps"})
		require.Equal(t, []string{"service#flaps: failed"}, story(again), "%s", again)
		require.Regexp(t, `found that it does not stay up: systemd restarted the service \d+ times, the last time \d s ago(.|\n)*no such database`, again.event("service#flaps").Errors[0])
	}
	require.Equal(t, []string{"service#flaps: stable"}, story(l.settles("0s", "flaps")))
}

// A plan and a run name the socket that starts a stopped service again.
func TestServiceWithSocket(t *testing.T) {
	l := boot(t, debian)
	l.unit("echo.service", "ExecStart=/bin/sleep infinity")
	l.write("/etc/systemd/system/echo.socket", []byte("[Socket]\nListenStream=/run/echo.sock\n"))
	l.sh("systemctl daemon-reload; systemctl start echo.socket echo.service")
	l.write("/root/site.lua", []byte(`service { "echo", ensure = "stopped" }`))
	const note = "(echo.socket can start it again: stop that too, or set mask = true)"
	require.Contains(t, l.sh("/opt/ccm/ccm plan /root/site.lua"), "Would have stopped "+note)
	require.Contains(t, l.sh("/opt/ccm/ccm run /root/site.lua"), "Stopped "+note)
	l.sh("systemctl start echo.service")
	l.write("/root/site.lua", []byte(`service { "echo.socket", "echo", ensure = "stopped" }`))
	require.NotContains(t, l.sh("/opt/ccm/ccm run /root/site.lua"), "can start it again")
}
