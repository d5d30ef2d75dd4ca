// Package openrc provides services where OpenRC runs the machine.
package openrc

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/luaccm/ccm/providers/svctool"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// Providers returns what this package provides.
func Providers() []resource.Binding {
	s := services(svctool.Pause)
	return []resource.Binding{resources.ServiceType.Provide("openrc", s.Suits(&host.New(host.Options{}).View, ""), s)}
}

func services(wait svctool.Wait) *svctool.Scripts {
	return &svctool.Scripts{
		Init: "OpenRC", Tools: [][]string{{"rc-service"}, {"rc-update"}}, Here: here,
		Dirs:    []string{"/etc/init.d", "/usr/local/etc/init.d"},
		Command: func(verb, name string) []string { return []string{"rc-service", "--nocolor", name, verb} },
		Meaning: meaning, CanReload: canReload, Levels: levels,
		EnableCommands:  func(_ *host.View, name string) [][]string { return [][]string{{"rc-update", "add", name, bootLevel}} },
		DisableCommands: disable,
		Reset:           func(name string) []string { return []string{"rc-service", "--nocolor", name, "zap"} },
		Wait:            wait,
	}
}

// booted exists if and only if OpenRC has booted the machine.
const booted = "/run/openrc"

// here returns an error unless OpenRC runs the machine of v.
func here(v *host.View) error { return svctool.CheckBooted(v, "OpenRC", "openrc", booted) }

// activities are the meanings of exit codes of status (openrc-run(8)). Scripts that do not use
// openrc-run have those of LSB.
var activities = map[int]svctool.Activity{
	0:  {Word: "started", Running: true},
	1:  {Word: "dead"},
	2:  {Word: "dead"},
	3:  {Word: "stopped"},
	4:  {Word: "stopping", Moving: true, Stops: true},
	8:  {Word: "starting", Moving: true},
	16: {Word: "inactive", Moving: true},
	32: {Word: "crashed", Crashed: true},
}

func meaning(res host.Result) (svctool.Activity, error) {
	now, ok := activities[res.Code]
	if !ok {
		return now, diag.Not("", "a state of a service")
	}
	return now, nil
}

// canReload asks for the commands of a service, each of which OpenRC prints on a line: " *
// reload: no description".
func canReload(ctx context.Context, v *host.View, name, script string) (bool, error) {
	res, err := v.Query(ctx, host.Cmd{Argv: []string{"rc-service", "--nocolor", name, "describe"}})
	if err != nil {
		return false, err
	}
	for line := range strings.Lines(string(res.Stdout) + string(res.Stderr)) {
		if strings.HasPrefix(strings.TrimLeft(line, " *"), "reload:") {
			return true, nil
		}
	}
	if res.Code == 0 {
		return false, nil
	}
	return svctool.SpeaksOfReload(v, script)
}

const (
	runlevels = "/etc/runlevels"
	bootLevel = "default"
)

// levels returns the boot runlevels that have a service: sysinit, boot and default, and the
// stacked ones, which are directories in their directories.
func levels(v *host.View, name string) (found []string, err error) {
	seen := []string{"sysinit", "boot", bootLevel}
	for i := 0; i < len(seen); i++ {
		entries, err := svctool.Entries(v, path.Join(runlevels, seen[i]))
		if err != nil {
			return nil, err
		}
		if slices.Contains(entries, name) {
			found = append(found, seen[i])
		}
		for _, entry := range entries {
			stacked, err := v.IsDirectory(path.Join(runlevels, entry))
			if err != nil {
				return nil, err
			}
			if stacked && !slices.Contains(seen, entry) {
				seen = append(seen, entry)
			}
		}
	}
	return found, nil
}

func disable(_ *host.View, name string, levels []string) (commands [][]string) {
	for _, level := range levels {
		commands = append(commands, []string{"rc-update", "del", name, level})
	}
	return commands
}
