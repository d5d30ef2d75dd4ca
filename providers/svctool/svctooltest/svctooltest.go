// Package svctooltest has the tests that providers of services in scripts have in common, and the
// model of a machine for them. The answers of its commands were recorded from the real tools.
package svctooltest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/providers/svctool"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/resource/resourcetest"
	"github.com/luaccm/ccm/runtime/safepath"
)

// NoWait does not wait: on a [Machine] a moment passes with each query instead.
func NoWait(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// A Machine has one service, x. Its files are below the directory Root.
type Machine struct {
	t    testing.TB
	Root string
	// Running is set if the service runs, Dies if it ends soon after each start, and Killed if it
	// was killed and the init system has not noticed. Starting is the number of queries for which it
	// is still starting.
	Running, Dies, Killed bool
	Starting              int
	// Verbs are the verbs that were called.
	Verbs []string
}

// Tool is what differs between init systems.
type Tool struct {
	// OnBoot makes a machine one that the init system has started.
	OnBoot func(m *Machine)
	// Answer answers a command.
	Answer func(m *Machine, c host.Cmd) host.Result
	// Enable has the service start at boot.
	Enable func(m *Machine)
	// Script is the text of a script, and Reloads that of one that can reload.
	Script, Reloads string
}

// Path returns a path below the root.
func (m *Machine) Path(name string) string { return filepath.Join(m.Root, name) }

// Mkdir makes a directory.
func (m *Machine) Mkdir(name string) { require.NoError(m.t, os.MkdirAll(m.Path(name), 0o755)) }

// Write writes a file that can be run.
func (m *Machine) Write(name, text string) {
	m.Mkdir(filepath.Dir(name))
	require.NoError(m.t, os.WriteFile(m.Path(name), []byte(text), 0o755))
}

// Link makes a link.
func (m *Machine) Link(target, name string) {
	m.Mkdir(filepath.Dir(name))
	_ = os.Remove(m.Path(name))
	require.NoError(m.t, os.Symlink(target, m.Path(name)))
}

// Remove removes a file.
func (m *Machine) Remove(name string) { _ = os.Remove(m.Path(name)) }

// Has reports whether there is a file.
func (m *Machine) Has(name string) bool { _, err := os.Lstat(m.Path(name)); return err == nil }

// Do performs a verb of a script, and lets time pass.
func (m *Machine) Do(verb string) {
	if verb != "status" && verb != "describe" {
		m.Verbs = append(m.Verbs, verb)
	}
	switch verb {
	case "start", "restart":
		m.Running = !m.Killed || verb == "restart"
	case "stop":
		m.Running, m.Killed = false, false
	case "zap":
		m.Killed = false
	case "status":
		if m.Starting > 0 {
			m.Starting--
			m.Running = m.Starting == 0
		} else if m.Dies {
			m.Running = false
		}
	}
}

// Host returns the machine for a provider.
func (tool Tool) Host(m *Machine) *host.Host {
	return host.New(host.Options{Root: m.Root, Clock: hosttest.Clock{}, Runner: tool.runner(m)})
}

// New returns a machine with the service.
func (tool Tool) New(t testing.TB, root string) *Machine {
	m := &Machine{t: t, Root: root}
	tool.OnBoot(m)
	m.Write("/etc/init.d/x", tool.Script)
	return m
}

func (tool Tool) runner(m *Machine) *hosttest.Runner {
	return &hosttest.Runner{Answer: func(c host.Cmd) (host.Result, error) {
		require.False(m.t, c.KeepLocale, "the output of %s is parsed", c)
		return tool.Answer(m, c), nil
	}}
}

// OK returns the answer of a command that succeeds.
func OK(out string) host.Result { return host.Result{Stdout: []byte(out)} }

// Failed returns the answer of a command that fails.
func Failed(code int, out string) host.Result {
	return host.Result{Stdout: []byte(out), Code: code}
}

// Suite tries every want from every start.
func (tool Tool) Suite(t *testing.T, provider *svctool.Scripts) {
	running, settle := resources.ServiceRunning, host.Duration(time.Second)
	suite := resourcetest.Suite[resources.Service, resources.ServiceState, resources.ServiceProvider]{
		Type: resources.ServiceType, Provider: provider,
		Wants: map[string]resources.Service{
			"running":          {Name: "x", Ensure: running, Settle: settle},
			"stopped":          {Name: "x", Ensure: resources.ServiceStopped},
			"running enabled":  {Name: "x", Ensure: running, Enable: new(true)},
			"stopped disabled": {Name: "x", Ensure: resources.ServiceStopped, Enable: new(false)},
			"enabled":          {Name: "x", Ensure: resources.ServiceUnmanaged, Enable: new(true)},
			"unmasked":         {Name: "x", Ensure: running, Mask: new(false)},
			"masked":           {Name: "x", Ensure: running, Mask: new(true)},
			"of a user":        {Name: "x", Ensure: running, Scope: resources.UserService},
		},
		Starts: make(map[string]func(*testing.T, string) host.Runner),
		Phrases: map[string][]string{
			"stopped/running": {"started"}, "running/running": {}, "running/stopped": {"stopped"}, "stopped/stopped": {},
			"stopped/running enabled": {"started", "enabled"}, "running enabled/running enabled": {},
			"running enabled/stopped disabled": {"stopped", "disabled"}, "running/enabled": {"enabled"},
			"starting/running": {}, "starting/stopped": {"stopped"}, "stopped/unmasked": {"started"},
		},
		Fails: map[string]string{
			"dies/running": "failed to reach desired state: the service was started and is not running (",
		},
	}
	for name, prepare := range map[string]func(m *Machine){
		"not found":       func(m *Machine) { m.Remove("/etc/init.d/x") },
		"stopped":         func(*Machine) {},
		"running":         func(m *Machine) { m.Running = true },
		"running enabled": func(m *Machine) { m.Running = true; tool.Enable(m) },
		"starting":        func(m *Machine) { m.Starting = 3 },
		"dies":            func(m *Machine) { m.Dies = true },
	} {
		suite.Starts[name] = func(t *testing.T, root string) host.Runner {
			m := tool.New(t, root)
			prepare(m)
			return tool.runner(m)
		}
		for want := range suite.Wants {
			switch {
			case want == "of a user":
				suite.Fails[name+"/"+want] = "expected a service of a user, found " + provider.Init + ": only systemd supports these"
			case name == "not found":
				suite.Fails[name+"/"+want] = "service not found: x"
			case want == "masked":
				suite.Fails[name+"/"+want] = "the service cannot be masked: " + provider.Init + " does not support masks"
			case name == "dies" && (want == "unmasked" || want == "running enabled"):
				suite.Fails[name+"/"+want] = "the service was started and is not running ("
			}
		}
	}
	suite.Run(t)
}

// OnChange tries what a change does.
func (tool Tool) OnChange(t *testing.T, provider *svctool.Scripts) {
	for _, x := range []struct {
		onChange resources.ServiceOnChange
		script   string
		did      []string
		err      string
	}{
		{resources.ServiceRestart, tool.Script, []string{"restart"}, ""},
		{resources.ServiceReload, tool.Reloads, []string{"reload"}, ""},
		{resources.ServiceReload, tool.Script, nil, "expected a service that can reload, found one that cannot"},
		{resources.ServiceReloadOrRestart, tool.Reloads, []string{"reload"}, ""},
		{resources.ServiceReloadOrRestart, tool.Script, []string{"restart"}, ""},
	} {
		m := tool.New(t, t.TempDir())
		m.Running = true
		m.Write("/etc/init.d/x", x.script)
		h, want := tool.Host(m), resources.Service{Name: "x", Ensure: resources.ServiceRunning, OnChange: x.onChange}
		have, err := provider.Status(t.Context(), &h.View, want)
		require.NoError(t, err)
		d := resources.ServiceType.Type.Decide(&want, have, true)
		if x.err != "" {
			require.ErrorContains(t, d.Err, x.err)
			continue
		}
		for _, a := range d.Actions {
			require.NoError(t, want.Perform(t.Context(), h, provider, a))
		}
		require.Equal(t, x.did, m.Verbs, "%s", x.onChange)
	}
}

// Plans tests that a service whose script is pending is unknown, and not looked for.
func (tool Tool) Plans(t *testing.T, provider *svctool.Scripts) {
	m := tool.New(t, t.TempDir())
	v := tool.Host(m).Planning(t.Context())
	want := resources.Service{Name: "y", Ensure: resources.ServiceRunning}
	have, err := provider.Status(t.Context(), v, want)
	require.NoError(t, err)
	require.True(t, have.Missing)
	v.Overlay().Assume(nil, false, overlay.PathEffect{Path: "/etc/init.d/y", Kind: safepath.Regular})
	_, err = provider.Status(t.Context(), v, want)
	var unknown *resource.UnknownError
	require.ErrorAs(t, err, &unknown)
	require.Equal(t, "the script /etc/init.d/y is pending", unknown.Reason)
}

// Suits tests where a provider suits: with its commands, where its init system runs.
func (tool Tool) Suits(t *testing.T, provider *svctool.Scripts, commands ...string) {
	h, root := hosttest.New(t, nil)
	bin := t.TempDir()
	suits := provider.Suits(&h.View, bin)
	for _, c := range commands {
		_, err := suits(nil, resources.Service{})
		require.EqualError(t, err, fmt.Sprintf("command %q not found in %s", c, bin))
		require.NoError(t, os.WriteFile(filepath.Join(bin, c), nil, 0o755))
	}
	_, err := suits(nil, resources.Service{})
	require.ErrorContains(t, err, provider.Init+" does not run below "+root)
	m := tool.New(t, root)
	priority, err := suits(nil, resources.Service{})
	require.NoError(t, err)
	require.Equal(t, 1, priority)
	names, err := provider.Names(t.Context(), &tool.Host(m).View, "")
	require.NoError(t, err)
	require.Equal(t, []string{"x"}, names)
}

// Offline tests a machine that is not running: a service that is to be running is enabled, and the script is never
// called. The provider is not for a machine that boots with systemd.
func (tool Tool) Offline(t *testing.T, provider *svctool.Scripts, boots string) {
	m := tool.New(t, t.TempDir())
	if boots != "" {
		m.Write(boots, "")
	}
	h := host.New(host.Options{Root: m.Root, Runner: tool.runner(m), Offline: "it is an image"})
	want := resources.Service{Name: "x", Ensure: resources.ServiceRunning, OnChange: resources.ServiceReload, Settle: host.Duration(time.Second)}
	for _, phrases := range [][]string{{"enabled for the first boot"}, nil} {
		have, err := provider.Status(t.Context(), &h.View, want)
		require.NoError(t, err)
		require.Equal(t, "it is an image", have.Offline)
		d := resources.ServiceType.Type.Decide(&want, have, true)
		require.NoError(t, d.Err)
		var got []string
		for _, a := range d.Actions {
			got = append(got, a.Phrase)
			require.NoError(t, want.Perform(t.Context(), h, provider, a))
		}
		require.Equal(t, phrases, got)
	}
	require.Empty(t, m.Verbs)
	require.NoError(t, provider.Here(&h.View))
	m.Write("/usr/lib/systemd/systemd", "")
	require.ErrorContains(t, provider.Here(&h.View), "boot")
}
