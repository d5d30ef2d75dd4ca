// Package systemd provides services where systemd runs the machine. It asks for their state over
// the system bus, in one exchange for all services of a run, and by systemctl if the bus does not
// answer. Changes are made by systemctl: they are rare and take longer than the start of a
// command, and systemctl knows System V services, presets and the messages for failures. Services
// of a user are handled by systemctl alone, which runs as the user.
package systemd

import (
	"github.com/luaccm/ccm/providers/svctool"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// Providers returns what this package provides. It remembers that systemd has read its unit files
// again, so it has to be made once for each run.
func Providers() []resource.Binding {
	v := &host.New(host.Options{}).View
	return []resource.Binding{resources.ServiceType.Provide("systemd", suits(v, ""), &provider{system: newServices(svctool.Pause)})}
}

// booted exists if and only if systemd is pid 1 (sd_booted(3)).
const booted = "/run/systemd/system"

// suits searches for systemctl in path, or in the PATH of this process if that is empty, and for
// systemd on the machine of v.
func suits(v *host.View, path string) resource.Suitability[resources.Service] {
	return func(f *facts.Facts, _ resources.Service) (int, error) {
		v := svctool.Machine(f, v)
		if _, err := v.LookPath("systemctl", path, ""); err != nil {
			return 0, err
		}
		return 1, isBooted(v)
	}
}

// isBooted returns an error unless systemd runs the machine of v. That matters most below another
// root: there systemctl would reach the services of the real machine.
func isBooted(v *host.View) error { return svctool.CheckBooted(v, "systemd", "systemd", booted) }
