// Package sysvinit provides services that are scripts in /etc/init.d, on machines where
// neither systemd nor OpenRC is running: those of System V init, and containers without any
// init. The exit codes are those of LSB
// (refspecs.linuxfoundation.org/LSB_5.0.0/LSB-Core-generic/LSB-Core-generic/iniscrptact.html).
package sysvinit

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/luaccm/ccm/providers/svctool"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// initName is the name of the init system in messages.
const initName = "System V init"

// Providers returns what this package provides.
func Providers() []resource.Binding {
	s := services(svctool.Pause, chooseTool)
	return []resource.Binding{resources.ServiceType.Provide("sysvinit", s.Suits(&host.New(host.Options{}).View, ""), s)}
}

// services returns the provider. Tool chooses the command for runlevels.
func services(wait svctool.Wait, tool func(v *host.View) string) *svctool.Scripts {
	return &svctool.Scripts{
		Init: initName, Tools: [][]string{{"service"}, {"update-rc.d", "chkconfig"}}, Here: here,
		Dirs:    []string{"/etc/init.d", "/etc/rc.d/init.d"},
		Command: func(verb, name string) []string { return []string{"service", name, verb} },
		Meaning: meaning,
		CanReload: func(_ context.Context, v *host.View, _, script string) (bool, error) {
			return svctool.SpeaksOfReload(v, script)
		},
		Levels: levels,
		EnableCommands: func(v *host.View, name string) [][]string {
			if tool(v) == "chkconfig" {
				return [][]string{{"chkconfig", "--add", name}, {"chkconfig", name, "on"}}
			}
			return [][]string{{"update-rc.d", name, "defaults"}, {"update-rc.d", name, "enable"}}
		},
		DisableCommands: func(v *host.View, name string, _ []string) [][]string {
			if tool(v) == "chkconfig" {
				return [][]string{{"chkconfig", name, "off"}}
			}
			return [][]string{{"update-rc.d", name, "disable"}}
		},
		Wait: wait,
	}
}

func chooseTool(v *host.View) string {
	if _, err := v.LookPath("update-rc.d", "", ""); err == nil {
		return "update-rc.d"
	}
	return "chkconfig"
}

// here returns an error if another init system runs the machine of v, or if v has another root:
// scripts would reach services of the real machine.
func here(v *host.View) error {
	if v.Offline() != "" {
		init, err := facts.BootsWith(v)
		if err == nil && init != "" {
			err = fmt.Errorf("it boots with %s", init)
		}
		return err
	}
	for _, sign := range []string{"/run/systemd/system", "/run/openrc"} {
		switch ok, err := v.IsDirectory(sign); {
		case err != nil:
			return err
		case ok:
			return fmt.Errorf("another init system runs this machine: %s exists", sign)
		}
	}
	if v.Root() == "/" {
		return nil
	}
	const sign = "/run/initctl"
	ok, err := v.Exists(sign)
	if err == nil && !ok {
		err = fmt.Errorf("%s does not run below %s: %s does not exist", initName, v.Root(), sign)
	}
	return err
}

// meaning interprets the answer of a script to status. A script without that command prints its
// usage, with the exit code of a dead service.
func meaning(res host.Result) (svctool.Activity, error) {
	text := strings.ToLower(string(res.Stdout) + string(res.Stderr))
	switch {
	case res.Code == 0:
		return svctool.Activity{Word: "running", Running: true}, nil
	case strings.Contains(text, "usage:"):
		return svctool.Activity{}, diag.Lacks("the script", "a status command")
	case res.Code == 1 || res.Code == 2:
		return svctool.Activity{Word: "dead"}, nil
	case res.Code == 3:
		return svctool.Activity{Word: "stopped"}, nil
	}
	return svctool.Activity{}, diag.SubjectCannot("the script", "determine whether it runs")
}

// bootLevels are the runlevels into which a machine may boot, and S, which init runs before any of
// them.
var bootLevels = []string{"S", "2", "3", "4", "5"}

// levels returns the runlevels that start a service: those with a link SnnNAME to it.
func levels(v *host.View, name string) (found []string, err error) {
	starts := func(link string) bool {
		return len(link) > 3 && link[0] == 'S' && link[1] >= '0' && link[1] <= '9' && link[2] >= '0' && link[2] <= '9' && link[3:] == name
	}
	for _, level := range bootLevels {
		for _, dir := range []string{"/etc/rc" + level + ".d", "/etc/rc.d/rc" + level + ".d"} {
			links, err := svctool.Entries(v, dir)
			if err != nil {
				return nil, err
			}
			if slices.ContainsFunc(links, starts) {
				found = append(found, level)
				break
			}
		}
	}
	return found, nil
}
