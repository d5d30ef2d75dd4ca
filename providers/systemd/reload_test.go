package systemd

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
)

const other = "ExecStart=/bin/run --other\n"

func service(name string) resources.Service {
	return resources.Service{Name: name, Ensure: resources.ServiceRunning}
}

// Each test is a run: changes on a machine where x and y are active, and the commands of systemctl that change
// something, in order.
func TestDaemonReload(t *testing.T) {
	for _, x := range []struct {
		name string
		run  func(m *machine, s *services, h *host.Host) error
		did  []string
	}{
		{"nothing changed", func(m *machine, s *services, h *host.Host) error {
			return errors.Join(s.Restart(m.t.Context(), h, service("x")), s.Stop(m.t.Context(), h, service("y")))
		}, []string{"restart x", "stop y"}},
		{"the unit file changed", func(m *machine, s *services, h *host.Host) error {
			m.write(etc+"x.service", other)
			err := s.Restart(m.t.Context(), h, service("x"))
			require.Equal(m.t, other, m.up["x.service"].file.text, "restarted with the old file")
			return err
		}, []string{"daemon-reload", "restart x"}},
		{"once for two", func(m *machine, s *services, h *host.Host) error {
			m.write(etc+"x.service", other)
			m.write(etc+"y.service", other)
			return errors.Join(s.Restart(m.t.Context(), h, service("x")), s.Restart(m.t.Context(), h, service("y")))
		}, []string{"daemon-reload", "restart x", "restart y"}},
		{"before any verb", func(m *machine, s *services, h *host.Host) error {
			m.write(etc+"x.service", other+install)
			return errors.Join(s.Enable(m.t.Context(), h, service("x")), s.Disable(m.t.Context(), h, service("x")), s.Stop(m.t.Context(), h, service("x")))
		}, []string{"daemon-reload", "enable x", "disable x", "stop x"}},
		{"a new unit file", func(m *machine, s *services, h *host.Host) error {
			m.write(etc+"new.service", runs)
			return s.Start(m.t.Context(), h, service("new"))
		}, []string{"daemon-reload", "start new"}},
		{"new unit files one after the other", func(m *machine, s *services, h *host.Host) error {
			m.write(etc+"new.service", runs)
			err := s.Start(m.t.Context(), h, service("new"))
			m.write(etc+"newer.service", runs)
			return errors.Join(err, s.Start(m.t.Context(), h, service("newer")))
		}, []string{"daemon-reload", "start new", "start newer"}},
		{"again only for what systemd has an old file of", func(m *machine, s *services, h *host.Host) error {
			m.write(etc+"x.service", other)
			err := s.Restart(m.t.Context(), h, service("x"))
			m.write(etc+"y.service", other)
			err = errors.Join(err, s.Restart(m.t.Context(), h, service("y")))
			require.Equal(m.t, other, m.up["y.service"].file.text, "restarted with the old file")
			return err
		}, []string{"daemon-reload", "restart x", "daemon-reload", "restart y"}},
		{"a file that wins over the one that was read", func(m *machine, s *services, h *host.Host) error {
			s.reloader.done = true
			m.write(etc+"lib.service", other)
			err := s.Restart(m.t.Context(), h, service("lib"))
			require.Equal(m.t, other, m.up["lib.service"].file.text, "restarted with the old file")
			return err
		}, []string{"daemon-reload", "restart lib"}},
		{"an instance file that wins over the template", func(m *machine, s *services, h *host.Host) error {
			s.reloader.done = true
			m.write("/usr/lib/systemd/system/t@a.service", other)
			return s.Restart(m.t.Context(), h, service("t@a"))
		}, []string{"daemon-reload", "restart t@a"}},
		{"a file that loses against the one that was read", func(m *machine, s *services, h *host.Host) error {
			s.reloader.done = true
			m.write("/usr/lib/systemd/system/x.service", other)
			m.write(etc+"t@.timer", other)
			return errors.Join(s.Restart(m.t.Context(), h, service("x")), s.Restart(m.t.Context(), h, service("t@a")))
		}, []string{"restart x", "restart t@a"}},
		{"a drop-in", func(m *machine, s *services, h *host.Host) error {
			m.write(etc+"x.service.d/limits.conf", "[Service]\n")
			return s.Restart(m.t.Context(), h, service("x"))
		}, []string{"daemon-reload", "restart x"}},
		{"a drop-in of a socket that comes with it", func(m *machine, s *services, h *host.Host) error {
			m.write(etc+"x.socket.d/limits.conf", "[Socket]\n")
			m.reload()
			m.write(etc+"x.socket.d/limits.conf", "[Socket]\nBacklog=1\n")
			return s.Restart(m.t.Context(), h, service("x"))
		}, []string{"daemon-reload", "restart x"}},
		{"a systemd that cannot say", func(m *machine, s *services, h *host.Host) error {
			m.tooOld = true
			return errors.Join(s.Restart(m.t.Context(), h, service("x")), s.Restart(m.t.Context(), h, service("x")))
		}, []string{"daemon-reload", "restart x", "restart x"}},
		{"a System V script that systemd has not seen", func(m *machine, s *services, h *host.Host) error {
			s.reloader.done = true
			m.write("/etc/init.d/old", "#!/bin/sh\n")
			return s.Start(m.t.Context(), h, service("old"))
		}, []string{"daemon-reload", "start old"}},
		{"looking", func(m *machine, s *services, h *host.Host) error {
			m.write(etc+"x.service", other)
			for _, v := range []*host.View{&h.View, h.Planning(t.Context())} {
				_, err := s.Status(m.t.Context(), v, service("x"))
				require.NoError(m.t, err)
			}
			return nil
		}, nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			m := newMachine(t, t.TempDir())
			m.unit("x.service", runs).unit("y.service", runs)
			m.write("/usr/lib/systemd/system/lib.service", runs)
			m.unit("t@.service", runs)
			m.reload()
			for _, up := range []string{"x", "y", "lib", "t@a"} {
				m.is(up+".service", "active", "running")
			}
			require.NoError(t, x.run(m, newServices(noWait), m.host()))
			require.Equal(t, x.did, m.did)
		})
	}
}

// Nothing is done with a unit file that systemd could not read.
func TestDaemonReloadFails(t *testing.T) {
	m := newMachine(t, t.TempDir())
	m.unit("x.service", runs).is("x.service", "active", "running").write(etc+"x.service", other)
	r := m.runner()
	r.Answer = func(c host.Cmd) (host.Result, error) {
		if c.Argv[1] == "daemon-reload" {
			return failed(1, "Reload daemon failed: Access denied"), nil
		}
		return m.answer(c)
	}
	h := host.New(host.Options{Root: m.root, Runner: r})
	err := newServices(noWait).Restart(t.Context(), h, service("x"))
	require.EqualError(t, err, "systemctl daemon-reload --system: exit status 1: Reload daemon failed: Access denied")
	require.Empty(t, m.did)
}
