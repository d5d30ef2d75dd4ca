package systemd

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/providers/svctool"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource/resourcetest"
)

// noWait does not wait: the time of a machine passes by itself.
func noWait(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// starts are initial states of a machine with a service x.
var starts = map[string]func(m *machine){
	"not found":            func(*machine) {},
	"stopped":              func(m *machine) { m.unit("x.service", runs, install) },
	"stopped enabled":      func(m *machine) { m.unit("x.service", runs, install).enable("x") },
	"running":              func(m *machine) { m.unit("x.service", runs, install).is("x.service", "active", "running") },
	"running enabled":      func(m *machine) { m.unit("x.service", runs, install).enable("x").is("x.service", "active", "running") },
	"failed":               func(m *machine) { m.unit("x.service", runs, install).is("x.service", "failed", "failed") },
	"enabled runtime":      func(m *machine) { m.unit("x.service", runs, install).enable("x", "--runtime") },
	"static":               func(m *machine) { m.unit("x.service", runs) },
	"static running":       func(m *machine) { m.unit("x.service", runs).is("x.service", "active", "running") },
	"indirect":             func(m *machine) { m.indirect() },
	"indirect enabled":     func(m *machine) { m.indirect().enable("x") },
	"indirect by an alias": func(m *machine) { m.unit("x.service", runs, "[Install]\nAlso=%n\n") },
	"left over":            func(m *machine) { m.link(etc+"x.service", etc+"multi-user.target.wants/x.service") },
	"masked":               func(m *machine) { m.mask("x") },
	"masked running":       func(m *machine) { m.mask("x").is("x.service", "active", "running") },
	"linked": func(m *machine) {
		m.write("/opt/x.service", runs+install)
		m.link("/opt/x.service", etc+"x.service")
		m.reload()
	},
	"linked enabled": func(m *machine) {
		m.write("/opt/x.service", runs+install)
		m.link("/opt/x.service", etc+"x.service")
		m.enable("x").is("x.service", "active", "running")
	},
	"alias": func(m *machine) {
		m.unit("y.service", runs, install)
		m.link(etc+"y.service", etc+"x.service")
		m.reload()
	},
	"alias enabled": func(m *machine) {
		m.unit("y.service", runs, install).enable("y")
		m.link(etc+"y.service", etc+"x.service")
		m.reload()
	},
	"System V":            func(m *machine) { m.write("/etc/init.d/x", "#!/bin/sh\n"); m.reload() },
	"System V unread":     func(m *machine) { m.write("/etc/init.d/x", "#!/bin/sh\n") },
	"activating":          func(m *machine) { m.unit("x.service", runs, install).is("x.service", "activating", "start-pre") },
	"activating, dies":    func(m *machine) { m.unit("x.service", dies, install).is("x.service", "activating", "start-pre") },
	"activating, stuck":   func(m *machine) { m.unit("x.service", runs, install).is("x.service", "activating", "start") },
	"deactivating":        func(m *machine) { m.unit("x.service", runs, install).is("x.service", "deactivating", "stop-sigterm") },
	"deactivating, stuck": func(m *machine) { m.unit("x.service", runs, install).is("x.service", "deactivating", "final-sigkill") },
	"reloading":           func(m *machine) { m.unit("x.service", runs, install).is("x.service", "reloading", "reload") },
	"exited":              func(m *machine) { m.unit("x.service", runs, install, "Type=oneshot\nRemainAfterExit=yes\n") },
	"oneshot":             func(m *machine) { m.unit("x.service", runs, install, "Type=oneshot\n") },
	"dies at once":        func(m *machine) { m.unit("x.service", dies, install) },
	"dies soon":           func(m *machine) { m.unit("x.service", diesSoon, install) },
	"dies always":         func(m *machine) { m.unit("x.service", dies, "Restart=always\n", install) },
	"dies forking":        func(m *machine) { m.unit("x.service", dies, "Type=forking\n", install) },
	"bad unit file":       func(m *machine) { m.unit("x.service", install) },
	"repaired unit file": func(m *machine) {
		m.unit("x.service").is("x.service", "inactive", "dead").write(etc+"x.service", runs+install)
	},
	"changed unit file": func(m *machine) {
		m.unit("x.service", dies).is("x.service", "inactive", "dead").write(etc+"x.service", runs+install)
	},
}

// indirect writes a service that is started by its socket.
func (m *machine) indirect() *machine {
	return m.unit("x.socket", install).unit("x.service", runs, "[Install]\nAlso=x.socket\n")
}

func (m *machine) enable(service string, flags ...string) *machine {
	c := systemctl(append([]string{"enable", "--system", service}, flags...)...)
	res, err := m.answer(c)
	require.NoError(m.t, err)
	require.NoError(m.t, res.Err(c))
	m.did = nil
	return m
}

func (m *machine) mask(service string) *machine {
	m.write("/usr/lib/systemd/system/"+service+".service", runs+install)
	m.link("/dev/null", etc+service+".service")
	m.reload()
	return m
}

// settles is the default of settle.
const settles = host.Duration(time.Second)

var wants = map[string]resources.Service{
	"running":          {Name: "x", Ensure: resources.ServiceRunning, Settle: settles},
	"stopped":          {Name: "x", Ensure: resources.ServiceStopped, Settle: settles},
	"running enabled":  {Name: "x", Ensure: resources.ServiceRunning, Settle: settles, Enable: new(true)},
	"running disabled": {Name: "x", Ensure: resources.ServiceRunning, Settle: settles, Enable: new(false)},
	"stopped enabled":  {Name: "x.service", Ensure: resources.ServiceStopped, Settle: settles, Enable: new(true)},
	"enabled":          {Name: "x", Ensure: resources.ServiceUnmanaged, Settle: settles, Enable: new(true)},
	"disabled":         {Name: "x", Ensure: resources.ServiceUnmanaged, Settle: settles, Enable: new(false)},
	"stopped disabled": {Name: "x.service", Ensure: resources.ServiceStopped, Settle: settles, Enable: new(false)},
}

// The tables of desired states and actions of the service documents, and every
// further answer of systemd.
func TestServices(t *testing.T) {
	for name, by := range map[string]func(m *machine) host.Runner{
		"systemctl": func(m *machine) host.Runner { return m.runner() },
		"bus":       func(m *machine) host.Runner { return m.bus() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			servicesSuite(by).Run(t)
		})
	}
}

func servicesSuite(by func(*machine) host.Runner) resourcetest.Suite[resources.Service, resources.ServiceState, resources.ServiceProvider] {
	suite := resourcetest.Suite[resources.Service, resources.ServiceState, resources.ServiceProvider]{
		Type: resources.ServiceType, Wants: wants, Starts: make(map[string]func(*testing.T, string) host.Runner),
		Fails: make(map[string]string),
		Phrases: map[string][]string{
			"running/running":         {},
			"stopped/running":         {"started"},
			"stopped/stopped":         {},
			"running/stopped":         {"stopped"},
			"stopped/running enabled": {"started", "enabled"}, "running/running enabled": {"enabled"},
			"stopped enabled/running disabled": {"started", "disabled"}, "running enabled/stopped disabled": {"stopped", "disabled"},
			"running enabled/running enabled": {}, "running enabled/running": {},
			"stopped/stopped disabled": {}, "stopped/stopped enabled": {"enabled"},
			"failed/running": {"started"}, "failed/stopped": {},
			"enabled runtime/stopped enabled": {}, "enabled runtime/stopped disabled": {"disabled"},
			"static running/running enabled": {}, "static/running enabled": {"started"},
			"indirect/stopped enabled": {"enabled"}, "indirect/disabled": {}, "indirect enabled/enabled": {}, "indirect enabled/stopped disabled": {"disabled"},
			"indirect by an alias/enabled": {},
			"masked/stopped":               {}, "masked/stopped disabled": {}, "masked running/running": {}, "masked running/stopped": {"stopped"},
			"linked/stopped disabled": {}, "linked/stopped enabled": {"enabled"},
			"linked enabled/stopped disabled": {"stopped", "disabled"}, "linked enabled/disabled": {"disabled"},
			"alias/running": {"started"}, "alias enabled/stopped enabled": {},
			"System V/stopped disabled": {}, "System V/running enabled": {"started", "enabled"},
			"System V unread/running enabled": {"started", "enabled"}, "System V unread/stopped": {},
			"activating/running": {}, "activating/stopped": {"stopped"},
			"activating, stuck/running": {"started"}, "activating, stuck/stopped": {"stopped"},
			"deactivating/running": {"started"}, "deactivating/stopped": {},
			"reloading/running": {}, "reloading/stopped": {"stopped"},
			"stopped/enabled": {"enabled"}, "running enabled/enabled": {}, "running enabled/disabled": {"disabled"},
			"deactivating, stuck/enabled": {"enabled"}, "activating, stuck/disabled": {}, "failed/enabled": {"enabled"},
			"changed unit file/running enabled": {"started", "enabled"}, "repaired unit file/running": {"started"},
		},
	}
	system := newServices(noWait)
	for start, prepare := range starts {
		suite.Starts[start] = func(t *testing.T, root string) host.Runner {
			m := newMachine(t, root)
			prepare(m)
			system.startups = svctool.Startups[startup]{} // of another machine
			return by(m)
		}
	}
	suite.Provider = &provider{system: system} // as it is registered
	every := func(start, text string, wants ...string) {
		for _, want := range wants {
			suite.Fails[start+"/"+want] = text
		}
	}
	running := []string{"running", "running enabled", "running disabled"}
	stopped := []string{"stopped", "stopped enabled", "stopped disabled"}
	every("not found", "service not found: x", append(running, stopped...)...)
	every("not found", "service not found: x", "enabled", "disabled")
	every("deactivating, stuck", `invalid systemctl is-active output: "deactivating"`, append(running, stopped...)...)
	every("masked", "expected the service running, found a masked one (unmask it with mask = false)", running...)
	every("masked", "expected the service enabled, found a masked one (unmask it with mask = false)", "stopped enabled", "running enabled", "enabled")
	every("masked running", "expected the service enabled, found a masked one (unmask it with mask = false)", "stopped enabled", "running enabled", "enabled")
	for _, start := range []string{"static", "static running"} {
		every(start, "expected enable = false, found the service static, which cannot be changed: its unit file lacks an [Install] section: other units start it", "running disabled", "stopped disabled", "disabled")
	}
	for _, want := range []string{"running disabled", "stopped disabled", "disabled"} {
		suite.Fails["alias enabled/"+want] = "it is an alias of y (enable or disable that one)"
	}
	every("left over", "(its symlink /etc/systemd/system/multi-user.target.wants/x.service remains: run systemctl disable x", slices.Concat(running, stopped, []string{"enabled", "disabled"})...)
	every("indirect by an alias", "the service is still indirect, which counts as enabled", "running disabled", "stopped disabled", "disabled")
	every("alias", "it is an alias of y (enable or disable that one)", "running enabled", "stopped enabled", "enabled")
	every("oneshot", "the service ran to its end: a oneshot service without RemainAfterExit=yes is never running", running...)
	for _, start := range []string{"dies at once", "dies soon", "activating, dies"} {
		every(start, "failed to reach desired state: the service was started and failed (result exit-code, exit status 3)\n"+
			"its log ends with:\n  Started x.\n  cannot open /etc/x.conf\n  Main process exited, status=3", running...)
	}
	every("dies always", "failed and keeps restarting", running...)
	every("dies forking", `Job for x.service failed because the control process exited with error code.`, running...)
	every("bad unit file", "Unit x.service has a bad unit file setting.", running...)
	return suite
}
