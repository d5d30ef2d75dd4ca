package systemd

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/safepath"
)

// The kind of refresh is known in advance, and a reloaded service must stay up.
func TestReload(t *testing.T) {
	const cannot = `expected a service that can reload, found one that cannot`
	for _, x := range []struct {
		name     string
		onChange resources.ServiceOnChange
		prepare  func(m *machine)
		did      []string
		err      string
	}{
		{"reload", resources.ServiceReload, func(m *machine) { m.unit("x.service", runs, reloads) }, []string{"reload x"}, ""},
		{"cannot reload", resources.ServiceReload, func(m *machine) { m.unit("x.service", runs) }, nil, cannot},
		{"can reload by a file not read yet", resources.ServiceReload, func(m *machine) {
			m.unit("x.service", runs).is("x.service", "active", "running").write(etc+"x.service", runs+reloads)
		}, []string{"daemon-reload", "reload x"}, ""},
		{"cannot by a file not read yet", resources.ServiceReload, func(m *machine) {
			m.unit("x.service", runs, reloads).is("x.service", "active", "running").write(etc+"x.service", runs)
		}, []string{"daemon-reload", "reload x"}, "Job type reload is not applicable for unit x.service."},
		{"either, can", resources.ServiceReloadOrRestart, func(m *machine) { m.unit("x.service", runs, reloads) }, []string{"reload x"}, ""},
		{"either, cannot", resources.ServiceReloadOrRestart, func(m *machine) { m.unit("x.service", runs) }, []string{"restart x"}, ""},
		{"either, a new unit file", resources.ServiceReloadOrRestart, func(m *machine) {
			m.unit("x.service", runs, reloads).is("x.service", "active", "running").write(etc+"x.service", other+reloads)
		}, []string{"daemon-reload", "restart x"}, ""},
		{"either, the first drop-in", resources.ServiceReloadOrRestart, func(m *machine) {
			m.unit("x.service", runs, reloads).is("x.service", "active", "running").write(etc+"x.service.d/env.conf", "[Service]\n")
		}, []string{"daemon-reload", "restart x"}, ""},
		{"does not like its configuration", resources.ServiceReload, func(m *machine) { m.unit("x.service", runs, refuses) }, []string{"reload x"},
			"Job for x.service failed.\nSee \"systemctl status x.service\" and \"journalctl -xeu x.service\" for details.\nits log ends with:\n"},
		{"falls", resources.ServiceReload, func(m *machine) { m.unit("x.service", runs, falls) }, []string{"reload x"},
			"failed to reach desired state: the service was reloaded and failed (result exit-code, exit status 3)"},
	} {
		for by, newHost := range map[string]func(m *machine) *host.Host{
			"systemctl": (*machine).host,
			"bus":       func(m *machine) *host.Host { return m.bus().host() },
		} {
			m := newMachine(t, t.TempDir())
			x.prepare(m)
			if m.up["x.service"] == nil {
				m.is("x.service", "active", "running")
			}
			h, s, want := newHost(m), newServices(noWait), service("x")
			want.OnChange = x.onChange
			have, err := s.Status(t.Context(), &h.View, want)
			require.NoError(t, err)
			d := resources.ServiceType.Type.Decide(&want, have, true)
			err = d.Err
			for _, a := range d.Actions {
				err = want.Perform(t.Context(), h, s, a)
			}
			require.Equal(t, x.did, m.did, "%s by %s", x.name, by)
			if x.err == "" {
				require.NoError(t, err, x.name)
			} else {
				require.ErrorContains(t, err, x.err, x.name)
			}
		}
	}
}

// A plan says restart where the run is going to, because the unit file or a drop-in
// of it is pending.
func TestReloadPlanned(t *testing.T) {
	for path, outdated := range map[string]bool{
		etc + "x.service":                            true,
		etc + "x.service.d/limits.conf":              true,
		"/run/systemd/system/x.service.d/extra.conf": true,
		etc + "y.service":                            false,
		etc + "y.service.d/limits.conf":              false,
		"/etc/x.conf":                                false,
	} {
		m := newMachine(t, t.TempDir())
		m.unit("x.service", runs, reloads).is("x.service", "active", "running")
		v := m.host().Planning(t.Context())
		v.Overlay().Assume(nil, false, overlay.PathEffect{Path: path, Kind: safepath.Regular})
		want := service("x")
		want.OnChange = resources.ServiceReloadOrRestart
		have, err := newServices(noWait).Status(t.Context(), v, want)
		require.NoError(t, err)
		require.Equal(t, outdated, have.Outdated, path)
	}
}
