package systemd

import (
	"testing"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource/resourcetest"
)

// packaged writes the unit file of a package, which can be masked.
func (m *machine) packaged(text ...string) *machine {
	m.write("/usr/lib/systemd/system/x.service", "[Service]\n"+runs+install)
	for _, t := range text {
		m.write("/usr/lib/systemd/system/x.service", "[Service]\n"+t)
	}
	m.reload()
	return m
}

// Masks, from every start.
func TestMask(t *testing.T) {
	starts := map[string]func(m *machine){
		"stopped":         func(m *machine) { m.packaged() },
		"running enabled": func(m *machine) { m.packaged().enable("x").is("x.service", "active", "running") },
		"static":          func(m *machine) { m.packaged(runs) },
		"masked":          func(m *machine) { m.mask("x") },
		"masked running":  func(m *machine) { m.mask("x").is("x.service", "active", "running") },
		"masked enabled": func(m *machine) {
			m.packaged().enable("x")
			m.link("/dev/null", etc+"x.service")
			m.reload()
		},
		"masked runtime": func(m *machine) {
			m.packaged()
			m.link("/dev/null", "/run/systemd/system/x.service")
			m.reload()
		},
		"not found":    func(*machine) {},
		"of the admin": func(m *machine) { m.unit("x.service", runs, install) },
	}
	for name, by := range map[string]func(m *machine) host.Runner{
		"systemctl": func(m *machine) host.Runner { return m.runner() },
		"bus":       func(m *machine) host.Runner { return m.bus() },
	} {
		suite := resourcetest.Suite[resources.Service, resources.ServiceState, resources.ServiceProvider]{
			Type: resources.ServiceType, Provider: &provider{system: newServices(noWait)}, Starts: make(map[string]func(*testing.T, string) host.Runner),
			Wants: map[string]resources.Service{
				"mask":           {Name: "x", Ensure: resources.ServiceRunning, Mask: new(true)},
				"mask, disable":  {Name: "x", Ensure: resources.ServiceStopped, Mask: new(true), Enable: new(false)},
				"mask alone":     {Name: "x", Ensure: resources.ServiceUnmanaged, Mask: new(true)},
				"unmask":         {Name: "x", Ensure: resources.ServiceRunning, Mask: new(false)},
				"unmask, enable": {Name: "x", Ensure: resources.ServiceStopped, Mask: new(false), Enable: new(true)},
				"unmask alone":   {Name: "x", Ensure: resources.ServiceUnmanaged, Mask: new(false)},
			},
			Phrases: map[string][]string{
				"stopped/mask": {"masked"}, "running enabled/mask": {"stopped", "masked"}, "running enabled/mask alone": {"masked"},
				"running enabled/mask, disable": {"stopped", "disabled", "masked"}, "static/mask, disable": {"masked"},
				"not found/mask": {"masked"}, "not found/mask, disable": {"masked"}, "not found/mask alone": {"masked"},
				"masked/mask": {}, "masked/mask alone": {}, "masked running/mask": {"stopped"}, "masked runtime/mask": {},
				"masked/unmask": {"unmasked", "started"}, "masked running/unmask alone": {"unmasked"}, "masked runtime/unmask alone": {"unmasked"},
				"masked enabled/unmask, enable": {"unmasked"}, "masked/unmask, enable": {"unmasked", "enabled"},
				"stopped/unmask alone": {}, "of the admin/unmask": {"started"},
			},
			Fails: map[string]string{},
		}
		for start, prepare := range starts {
			suite.Starts[start] = func(t *testing.T, root string) host.Runner {
				m := newMachine(t, root)
				prepare(m)
				return by(m)
			}
		}
		for want, spec := range suite.Wants {
			if !*spec.Mask {
				suite.Fails["not found/"+want] = "service not found: x"
			} else {
				suite.Fails["of the admin/"+want] = "the service cannot be masked: /etc/systemd/system/x.service is where the mask would be"
			}
		}
		t.Run(name, suite.Run)
	}
}
