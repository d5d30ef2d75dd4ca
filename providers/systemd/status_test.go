package systemd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
)

// One command reads the states of all services, and each gets its own.
func TestStatusAll(t *testing.T) {
	m := newMachine(t, t.TempDir())
	m.unit("up.service", runs, install).enable("up").is("up.service", "active", "running")
	m.unit("down.service", runs, install).unit("t@.service", runs, install).enable("t@a").is("t@a.service", "active", "running")
	m.mask("masked")
	r := m.runner()
	h := host.New(host.Options{Root: m.root, Runner: r})
	s := newServices(noWait)
	wants := []resources.Service{service("up"), service("nosuch"), service("down.service"), service("masked"), service("up.service"), service("t@a")}
	states, errs := s.StatusAll(t.Context(), &h.View, wants)
	require.Equal(t, make([]error, len(wants)), errs)
	up := resources.ServiceState{Running: true, Enabled: true, Active: "active", Startup: "enabled"}
	require.Equal(t, []resources.ServiceState{
		up, {Missing: true}, {Active: "inactive", Startup: "disabled"}, {Active: "inactive", Startup: "masked", Masked: true}, up, up,
	}, states)
	require.Len(t, r.Ran(), 1)
	require.Regexp(t, `^systemctl show --system --property=\S+ -- up.service nosuch.service down.service masked.service up.service t@a.service$`, r.Ran()[0])
}

// A name that systemctl refuses does not affect the others.
func TestStatusAllRefused(t *testing.T) {
	m := newMachine(t, t.TempDir())
	m.unit("x.service", runs).is("x.service", "active", "running")
	states, errs := newServices(noWait).StatusAll(t.Context(), &m.host().View, []resources.Service{service("t@"), service("x")})
	require.ErrorContains(t, errs[0], "Failed to get properties: Unit name t@.service is neither a valid invocation ID nor unit name.")
	require.NoError(t, errs[1])
	require.True(t, states[1].Running)
}

// UnitFileState of show dates from the last load. After links or files have changed, is-enabled is called.
func TestEnabledOnDisk(t *testing.T) {
	link := etc + "multi-user.target.wants/x.service"
	for _, x := range []struct {
		name    string
		change  func(m *machine)
		startup string
	}{
		{"a link was made", func(m *machine) { m.link(etc+"x.service", link) }, "enabled"},
		{"a link was removed", func(m *machine) { m.enable("x"); require.NoError(m.t, os.Remove(m.path(link))) }, "disabled"},
		{"the [Install] section was removed", func(m *machine) { m.write(etc+"x.service", runs) }, "static"},
		{"the unit file was removed", func(m *machine) { require.NoError(m.t, os.Remove(m.path(etc+"x.service"))) }, ""},
	} {
		m := newMachine(t, t.TempDir())
		m.unit("x.service", runs, install).is("x.service", "active", "running")
		x.change(m)
		have, err := newServices(noWait).Status(t.Context(), &m.host().View, service("x"))
		require.NoError(t, err, x.name)
		require.Equal(t, x.startup, have.Startup, x.name)
		require.Equal(t, x.startup == "", have.Missing, x.name)
	}
}

// A plan does not know the effect of a unit file that is going to be written or removed.
func TestPendingUnitFile(t *testing.T) {
	want, enabled := service("x"), service("x")
	enabled.Enable = new(true)
	for _, x := range []struct {
		start   string
		want    resources.Service
		planned overlay.PathEffect
		unknown bool
	}{
		{"not found", want, overlay.PathEffect{Path: "/etc/systemd/system/x.service", Kind: safepath.Regular}, true},
		{"not found", want, overlay.PathEffect{Path: "/run/systemd/system/x.service", Kind: safepath.Regular}, true},
		{"not found", want, overlay.PathEffect{Path: "/usr/lib/systemd/system/x.service", Kind: safepath.Regular}, true},
		{"not found", want, overlay.PathEffect{Path: "/lib/systemd/system/x.service", Kind: safepath.Regular}, true},
		{"not found", want, overlay.PathEffect{Path: "/etc/init.d/x", Kind: safepath.Regular}, true},
		{"not found", want, overlay.PathEffect{Path: "/etc/systemd/system/y.service", Kind: safepath.Regular}, false},
		{"running", want, overlay.PathEffect{Path: "/etc/systemd/system/x.service", Kind: safepath.Regular}, false},
		{"running", want, overlay.PathEffect{Path: "/etc/systemd/system/x.service", Kind: safepath.Missing}, true},
		{"running", enabled, overlay.PathEffect{Path: "/etc/systemd/system/x.service", Kind: safepath.Regular}, false},
		{"masked", want, overlay.PathEffect{Path: "/lib/systemd/system/x.service", Kind: safepath.Regular}, false},
		{"static", want, overlay.PathEffect{Path: "/etc/systemd/system/x.service", Kind: safepath.Regular}, false},
		{"static", enabled, overlay.PathEffect{Path: "/etc/systemd/system/x.service", Kind: safepath.Regular}, true},
		{"bad unit file", want, overlay.PathEffect{Path: "/etc/systemd/system/x.service", Kind: safepath.Regular}, true},
	} {
		m := newMachine(t, t.TempDir())
		starts[x.start](m)
		v := m.host().Planning(t.Context())
		v.Overlay().Assume(nil, false, x.planned)
		_, err := newServices(noWait).Status(t.Context(), v, x.want)
		if !x.unknown {
			require.NoError(t, err, x)
			continue
		}
		u, ok := errors.AsType[*resource.UnknownError](err)
		require.True(t, ok, "%v: %v", x, err)
		require.Equal(t, "the unit file "+x.planned.Path+" is pending", u.Reason)
	}
}

// TestNewUnit: a service of which a plan makes the unit file is neither running nor enabled.
func TestNewUnit(t *testing.T) {
	yes := true
	for text, startup := range map[string]string{"[Service]\n[Install]\nWantedBy=multi-user.target\n": "disabled", "[Service]\n": "static"} {
		m := newMachine(t, t.TempDir())
		starts["not found"](m)
		v := m.host().Planning(t.Context())
		v.Overlay().Assume(nil, false, overlay.PathEffect{Path: "/etc/systemd/system/x.service", Kind: safepath.Regular, Content: &text})
		have, err := newServices(noWait).Status(t.Context(), v, resources.Service{Name: "x", Ensure: resources.ServiceRunning, Enable: &yes})
		require.NoError(t, err)
		require.Equal(t, resources.ServiceState{Active: "inactive", Startup: startup, Enabled: startup == "static", CannotEnable: have.CannotEnable}, have)
	}
}

// The tables of answers of the systemd document.
func TestAnswers(t *testing.T) {
	for word, want := range map[string]bool{"active": true, "inactive": false, "failed": false, "activating": false} {
		got, err := isRunning(word)
		require.NoError(t, err)
		require.Equal(t, want, got, word)
	}
	for _, word := range []string{"", "deactivating", "maintenance", "unknown"} {
		_, err := isRunning(word)
		require.ErrorContains(t, err, "invalid systemctl is-active output: ")
	}
	for word, want := range map[string]bool{
		"enabled": true, "enabled-runtime": true, "alias": true, "static": true, "indirect": true, "generated": true, "transient": true,
		"linked": false, "linked-runtime": false, "masked": false, "masked-runtime": false, "disabled": false,
	} {
		got, err := isEnabled(word)
		require.NoError(t, err)
		require.Equal(t, want, got, word)
	}
	for _, word := range []string{"", "bad", "maybe"} {
		_, err := isEnabled(word)
		require.ErrorContains(t, err, "invalid systemctl is-enabled output: ")
	}
	have, err := unit{LoadState: "loaded", ActiveState: "active", UnitFileState: "masked"}.state(true)
	require.NoError(t, err)
	require.True(t, have.Masked, "masked since systemd has read it")
	have, err = unit{UnitFileState: notFound}.state(true)
	require.NoError(t, err)
	require.Equal(t, resources.ServiceState{Missing: true}, have)
}

// Never a guess: whatever systemctl says that is not understood is an error.
func TestNotUnderstood(t *testing.T) {
	known := "Id=x.service\nNames=x.service\nLoadState=loaded\nNeedDaemonReload=no\n"
	for _, x := range []struct{ show, enabled, err string }{
		{"", "", "systemctl show: expected properties of 1 units, got:\n"},
		{"Id=x.service\n", "", "systemctl show: expected properties Id, LoadState and ActiveState of x.service, got:\nId=x.service"},
		{known + "ActiveState=confused\nUnitFileState=disabled\n", "", `invalid systemctl is-active output: "confused"`},
		{known + "ActiveState=active\nUnitFileState=maybe\n", "", `invalid systemctl is-enabled output: "maybe"`},
		{known + "ActiveState=active\nUnitFileState=\n", "Failed to connect to bus", "systemctl is-enabled --system x.service: exit status 1: Failed to connect to bus\n"},
	} {
		h, root := hosttest.New(t, &hosttest.Runner{Answer: func(c host.Cmd) (host.Result, error) {
			if c.Argv[1] == "is-enabled" {
				return failed(1, x.enabled), nil
			}
			return said(x.show), nil
		}})
		require.NoError(t, os.MkdirAll(filepath.Join(root, booted), 0o755))
		_, err := newServices(noWait).Status(t.Context(), &h.View, service("x"))
		require.ErrorContains(t, err, x.err[:len(x.err)-1])
	}
}

func TestUnitName(t *testing.T) {
	for service, unit := range map[string]string{
		"nginx": "nginx.service", "nginx.service": "nginx.service", "getty@tty1": "getty@tty1.service",
		"fstrim.timer": "fstrim.timer", "a.b": "a.b.service", "docker.socket": "docker.socket", ".timer": ".timer.service",
	} {
		require.Equal(t, unit, unitName(service))
	}
	require.Contains(t, systemScope.unitFiles("getty@tty1.service"), "/usr/lib/systemd/system/getty@.service")
}

// A service is not looked for where systemd does not run, and below a directory
// systemctl would reach the services of the machine itself.
func TestSuits(t *testing.T) {
	h, root := hosttest.New(t, nil)
	bin := t.TempDir()
	_, err := suits(&h.View, bin)(nil, service("x"))
	require.EqualError(t, err, `command "systemctl" not found in `+bin)
	require.NoError(t, os.WriteFile(filepath.Join(bin, "systemctl"), nil, 0o755))
	_, err = suits(&h.View, bin)(nil, service("x"))
	require.EqualError(t, err, "systemd does not run below "+root+": /run/systemd/system does not exist")
	_, err = newServices(noWait).Status(t.Context(), &h.View, service("x"))
	require.EqualError(t, err, "systemd does not run below "+root+": /run/systemd/system does not exist")
	require.NoError(t, os.MkdirAll(filepath.Join(root, booted), 0o755))
	priority, err := suits(&h.View, bin)(nil, service("x"))
	require.NoError(t, err)
	require.Equal(t, 1, priority)
	factories := Providers()
	require.Len(t, factories, 1)
	require.Equal(t, "systemd", factories[0].Name)
	require.Equal(t, "service", factories[0].Type.Name)
}

// lonely is a Runner that notices when it is not the only one.
type exclusiveRunner struct {
	host.Runner
	running, most atomic.Int32
}

func (l *exclusiveRunner) Run(ctx context.Context, c host.Cmd) (host.Result, error) {
	l.most.Store(max(l.most.Load(), l.running.Add(1)))
	defer l.running.Add(-1)
	for range 1000 {
		runtime.Gosched()
	}
	return l.Runner.Run(ctx, c)
}

// One command of systemctl runs at a time.
func TestOneCommandAtATime(t *testing.T) {
	m := newMachine(t, t.TempDir())
	m.unit("x.service", runs).is("x.service", "active", "running")
	l := &exclusiveRunner{Runner: m.runner()}
	h := host.New(host.Options{Root: m.root, Runner: l})
	s := newServices(noWait)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			_, err := s.Status(t.Context(), &h.View, service("x"))
			assert.NoError(t, err)
			assert.NoError(t, s.Restart(t.Context(), h, service("x")))
		})
	}
	all.Wait()
	require.Equal(t, int32(1), l.most.Load())
}
