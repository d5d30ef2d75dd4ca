// Package systemd provides services where systemd runs the machine. It asks about
// them over the system bus, which takes a conversation for all services of a run,
// and by way of systemctl where the bus does not answer. What changes something is
// left to systemctl: it is done seldom, takes longer than a command does to start,
// and systemctl knows System V services, presets and what to say of a failure.
// The services of a user are asked about by systemctl alone, which the user runs.
package systemd

import (
	"errors"
	"fmt"

	"github.com/luaccm/ccm/providers/svctool"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/command"
	"github.com/luaccm/ccm/runtime/resource"
)

// Providers returns what this package provides. What is returned remembers that
// systemd has read its unit files again: build it once for a run.
func Providers() []resource.Binding {
	v := &host.New(host.Options{}).View
	return []resource.Binding{resources.ServiceType.Provide("systemd", suits(v, ""), &provider{system: newServices(svctool.Pause)})}
}

// booted is there if and only if systemd is pid 1 (sd_booted(3)).
const booted = "/run/systemd/system"

// suits looks for systemctl in path, or in the PATH of this process if that is
// empty, and for systemd on the machine of v.
func suits(v *host.View, path string) resource.Suitability[resources.Service] {
	return func(*facts.Facts, resources.Service) (int, error) {
		if _, err := command.LookPath("systemctl", path); err != nil {
			return 0, err
		}
		return 1, isBooted(v)
	}
}

// isBooted returns an error unless systemd runs the machine that v looks at.
// That matters most where v looks below a directory: systemctl would reach the
// services of the machine itself.
func isBooted(v *host.View) error {
	switch ok, err := v.IsDirectory(booted); {
	case err != nil:
		return err
	case !ok && v.Root() != "/":
		return fmt.Errorf("systemd does not run below %s: %s is not there", v.Root(), booted)
	case !ok:
		return errors.New("systemd does not run this machine: " + booted + " is not there")
	}
	return nil
}
