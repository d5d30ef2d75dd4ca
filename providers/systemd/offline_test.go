package systemd

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// On a machine that is not running, systemctl only changes links: a service that is to be running is enabled.
func TestOffline(t *testing.T) {
	m := newMachine(t, t.TempDir())
	m.unit("x.service", runs, install)
	r := &hosttest.Runner{Answer: func(c host.Cmd) (host.Result, error) {
		require.Contains(t, c.Env, "SYSTEMD_OFFLINE=1")
		return m.answer(c)
	}}
	h := host.New(host.Options{Root: m.root, Runner: r, Offline: "it is an image"})
	require.EqualError(t, isBooted(&h.View), "it does not boot with systemd")
	m.write("/usr/lib/systemd/systemd", "")
	require.NoError(t, isBooted(&h.View))
	p := &provider{system: newServices(noWait)}
	for _, x := range []struct {
		want    resources.Service
		phrases []string
	}{
		{resources.Service{Name: "x", Ensure: resources.ServiceRunning, OnChange: resources.ServiceReload}, []string{"enabled for the first boot"}},
		{resources.Service{Name: "x", Ensure: resources.ServiceRunning}, nil},
		{resources.Service{Name: "x", Ensure: resources.ServiceStopped, Enable: new(false)}, []string{"disabled"}},
		{resources.Service{Name: "x", Ensure: resources.ServiceStopped}, nil},
	} {
		have, err := p.Status(t.Context(), &h.View, x.want)
		require.NoError(t, err)
		require.Equal(t, "it is an image", have.Offline)
		d := resources.ServiceType.Type.Decide(&x.want, have, true)
		require.NoError(t, d.Err)
		var phrases []string
		for _, a := range d.Actions {
			phrases = append(phrases, a.Phrase)
			require.NoError(t, x.want.Perform(t.Context(), h, p, a))
		}
		require.Equal(t, x.phrases, phrases)
	}
	for _, c := range r.Ran() {
		require.Regexp(t, `^systemctl (is-enabled|enable|disable) `, c)
	}
	require.Contains(t, strings.Join(r.Ran(), "\n"), "systemctl enable --system x")
	missing, err := p.Status(t.Context(), &h.View, resources.Service{Name: "y"})
	require.NoError(t, err)
	require.True(t, missing.Missing)
	name, err := facts.BootsWith(&h.View)
	require.NoError(t, err)
	require.Equal(t, "systemd", name)
}
