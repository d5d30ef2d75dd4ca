package systemd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/providers/svctool"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
)

const ms = time.Millisecond

// waits returns services that add up how long they wait.
func waits() (*services, *time.Duration) {
	var total time.Duration
	return newServices(func(_ context.Context, d time.Duration) error { total += d; return nil }), &total
}

func TestSettle(t *testing.T) {
	for _, x := range []struct {
		start string
		have  resources.ServiceState
		waits time.Duration
		err   string
	}{
		{"running", resources.ServiceState{Running: true, Active: "active"}, 0, ""},
		{"failed", resources.ServiceState{Active: "failed"}, 0, ""},
		{"activating", resources.ServiceState{Running: true, Active: "active"}, 300 * ms, ""},
		{"activating, dies", resources.ServiceState{Active: "failed"}, 300 * ms, ""},
		{"activating, stuck", resources.ServiceState{Active: "activating", Starting: true}, 5 * time.Second, ""},
		{"deactivating", resources.ServiceState{Active: "inactive"}, 300 * ms, ""},
		{"deactivating, stuck", resources.ServiceState{}, 5 * time.Second, `invalid systemctl is-active output: "deactivating"`},
		{"reloading", resources.ServiceState{Running: true, Active: "active"}, 300 * ms, ""},
	} {
		m := newMachine(t, t.TempDir())
		starts[x.start](m)
		s, total := waits()
		have, err := s.Status(t.Context(), &m.host().View, service("x"))
		require.Equal(t, x.waits, *total, x.start)
		if x.err != "" {
			require.EqualError(t, err, x.err)
			continue
		}
		require.NoError(t, err)
		x.have.Startup = "disabled"
		require.Equal(t, x.have, have, x.start)
	}
}

// Waiting for a service ends with the run.
func TestSettleInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	m := newMachine(t, t.TempDir())
	m.unit("y.service", runs).is("y.service", "active", "running")
	starts["activating, stuck"](m)
	s := newServices(func(ctx context.Context, d time.Duration) error {
		cancel(errors.New("interrupted"))
		return svctool.Pause(ctx, time.Hour)
	})
	states, errs := s.StatusAll(ctx, &m.host().View, []resources.Service{service("x"), service("y")})
	require.EqualError(t, errs[0], "interrupted")
	require.NoError(t, errs[1])
	require.True(t, states[1].Running)
	require.NoError(t, svctool.Pause(t.Context(), 0))
}

// A started service is watched until it has stayed up for settle; any other service is not waited for.
func TestOutlast(t *testing.T) {
	const failed = "failed to reach desired state: the service was started and failed (result exit-code, exit status 3)"
	for _, x := range []struct {
		name, text string
		settle     time.Duration
		waits      time.Duration
		err        string
	}{
		{"simple", "", time.Second, time.Second, ""},
		{"simple, longer", "", 7500 * ms, 7500 * ms, ""},
		{"simple, shorter", "", 20 * ms, 20 * ms, ""},
		{"simple, not at all", "", 0, 0, ""},
		{"forking", "Type=forking\n", time.Second, time.Second, ""},
		{"notify", "Type=notify\n", time.Second, time.Second, ""},
		{"exited", "Type=oneshot\nRemainAfterExit=yes\n", time.Second, 0, ""},
		{"dies at once", dies, time.Second, 0, failed},
		{"dies at once, not waited for", dies, 0, 0, failed},
		{"dies soon", diesSoon, time.Second, 50 * ms, failed},
		{"notifies and dies soon", "Type=notify\n" + diesSoon, time.Second, 50 * ms, failed},
		{"dies always", dies + "Restart=always\n", time.Second, 0, "failed to reach desired state: the service was started, failed and keeps restarting"},
		{"oneshot", "Type=oneshot\n", time.Second, 0, "failed to reach desired state: the service ran to its end"},
	} {
		m := newMachine(t, t.TempDir())
		m.unit("x.service", x.text, runs)
		s, total := waits()
		want := service("x")
		want.Settle = host.Duration(x.settle)
		h := m.host()
		err := s.Start(t.Context(), h, want)
		if err == nil {
			_, err = s.Status(t.Context(), &h.View, want)
		}
		require.Equal(t, x.waits, *total, x.name)
		if x.err == "" {
			require.NoError(t, err, x.name)
			_, err = s.Status(t.Context(), &h.View, want)
			require.NoError(t, err)
			require.Equal(t, x.waits, *total, "%s: it is waited for once", x.name)
			continue
		}
		require.ErrorContains(t, err, x.err, x.name)
		if x.name != "oneshot" {
			require.ErrorContains(t, err, "\nits log ends with:\n  Started x.\n  cannot open /etc/x.conf\n  Main process exited, status=3")
		}
	}
}

// The time that has passed since the start counts: several services that were started
// one after the other are waited for together.
func TestOutlastTogether(t *testing.T) {
	m := newMachine(t, t.TempDir())
	m.unit("x.service", runs).unit("y.service", runs)
	clock := &movingClock{}
	h := host.New(host.Options{Root: m.root, Runner: m.runner(), Clock: clock})
	var total time.Duration
	s := newServices(func(_ context.Context, d time.Duration) error {
		total += d
		clock.now = clock.now.Add(d)
		return nil
	})
	x, y := service("x"), service("y")
	x.Settle, y.Settle = settles, settles
	require.NoError(t, s.Start(t.Context(), h, x))
	clock.now = clock.now.Add(100 * ms)
	require.NoError(t, s.Start(t.Context(), h, y))
	for _, want := range []resources.Service{x, y} {
		_, err := s.Status(t.Context(), &h.View, want)
		require.NoError(t, err)
	}
	require.Equal(t, time.Second, total)
}

// A movingClock is moved by whoever waits.
type movingClock struct{ now time.Time }

func (c *movingClock) Now() time.Time { return c.now }

// Waiting for a service to settle ends with the run. A stopped service is not waited for.
func TestOutlastEnds(t *testing.T) {
	m := newMachine(t, t.TempDir())
	m.unit("x.service", runs)
	h, want := m.host(), service("x")
	want.Settle = settles
	s := newServices(func(context.Context, time.Duration) error { return errors.New("interrupted") })
	require.NoError(t, s.Start(t.Context(), h, want))
	_, err := s.Status(t.Context(), &h.View, want)
	require.EqualError(t, err, "interrupted")

	require.NoError(t, s.Start(t.Context(), h, want))
	want.Ensure = resources.ServiceStopped
	have, err := s.Status(t.Context(), &h.View, want)
	require.NoError(t, err)
	require.True(t, have.Running)
}

// What falls between two looks is noticed by how often it was started again.
func TestFall(t *testing.T) {
	up := unit{ActiveState: "active", SubState: "running", NRestarts: "3"}
	require.Empty(t, up.failure("3", "started"))
	require.True(t, unit{name: "x.service", ActiveState: "active", SubState: "running", Type: "simple"}.mayEnd())
	require.False(t, unit{name: "mnt.mount", ActiveState: "active", SubState: "mounted", Type: "tmpfs"}.mayEnd())
	require.Equal(t, "the service was started, failed and keeps restarting", up.failure("2", "started"))
	require.Equal(t, "the service was started and is not running", unit{ActiveState: "inactive", Type: "simple"}.failure("", "started"))
	require.Empty(t, unit{ActiveState: "activating", SubState: "start-pre"}.failure("", "started"))
	require.Equal(t, " (result signal, signal 9)", unit{Result: "signal", ExecMainCode: "2", ExecMainStatus: "9"}.end())
	require.Equal(t, " (result start-limit-hit)", unit{Result: "start-limit-hit", ExecMainCode: "0", ExecMainStatus: "0"}.end())
	require.Empty(t, unit{Result: "success", ExecMainCode: "1", ExecMainStatus: "0"}.end())
}

// A failure that systemctl start reports itself keeps systemctl's words.
func TestStartFails(t *testing.T) {
	m := newMachine(t, t.TempDir())
	m.unit("x.service", "Type=forking\n", dies)
	err := newServices(noWait).Start(t.Context(), m.host(), service("x"))
	require.EqualError(t, err, `systemctl start --system x: exit status 1: Job for x.service failed because the control process exited with error code.
See "systemctl status x.service" and "journalctl -xeu x.service" for details. (result exit-code, exit status 3)
its log ends with:
  Started x.
  cannot open /etc/x.conf
  Main process exited, status=3`)
	err = newServices(noWait).Start(t.Context(), m.host(), service("nosuch"))
	require.EqualError(t, err, "systemctl start --system nosuch: exit status 1: Failed to start nosuch.service: Unit nosuch.service not found.")
}

// What journalctl cannot say is left out.
func TestNoLog(t *testing.T) {
	for _, res := range []host.Result{{}, said("-- No entries --\n"), failed(1, "No journal files were found.")} {
		m := newMachine(t, t.TempDir())
		m.unit("x.service", dies)
		r := m.runner()
		r.Answer = func(c host.Cmd) (host.Result, error) {
			if c.Argv[0] == "journalctl" && c.Argv[1] != "--sync" {
				require.Equal(t, "journalctl -u x.service -n 10 --no-pager -o cat", c.String())
				return res, nil
			}
			return m.answer(c)
		}
		err := newServices(noWait).Start(t.Context(), host.New(host.Options{Root: m.root, Runner: r}), service("x"))
		require.EqualError(t, err, "failed to reach desired state: the service was started and failed (result exit-code, exit status 3)")
	}
}

// A service that systemd restarted by itself does not count as running before it has been up for a while: its settle time
// after one restart, ten seconds after several.
func TestFlapping(t *testing.T) {
	for _, x := range []struct {
		restarts int
		up       time.Duration
		settle   time.Duration
		flaps    bool
	}{
		{0, 0, time.Second, false},
		{1, 0, 2 * time.Second, true},
		{1, 3 * time.Second, 2 * time.Second, false},
		{1, 0, 0, false},
		{3, 3 * time.Second, 2 * time.Second, true},
		{3, 11 * time.Second, 2 * time.Second, false},
	} {
		r := &hosttest.Runner{}
		h, root := hosttest.New(t, r)
		require.NoError(t, os.MkdirAll(root+booted, 0o755))
		r.Answer = func(c host.Cmd) (host.Result, error) {
			if c.Argv[1] != "show" {
				return said("enabled\n"), nil
			}
			return said(fmt.Sprintf("Id=x.service\nNames=x.service\nLoadState=loaded\nActiveState=active\nSubState=running\nType=simple\nNRestarts=%d\nActiveEnterTimestamp=%s\nUnitFileState=enabled\nNeedDaemonReload=no\nCanReload=no\n",
				x.restarts, h.Now().Add(-x.up).UTC().Format("Mon 2006-01-02 15:04:05 MST"))), nil
		}
		want := resources.Service{Name: "x", Ensure: resources.ServiceRunning, Settle: host.Duration(x.settle)}
		have, err := newServices(noWait).Status(t.Context(), &h.View, want)
		require.NoError(t, err)
		require.Equal(t, x.flaps, have.Flapping != "", "%+v: %s", x, have.Flapping)
	}
}
