package facts

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
)

// gatherServices returns for each service whether it runs and starts at boot, by name. Systemd and
// OpenRC have such lists.
func gatherServices(ctx context.Context, v *host.View) (any, error) {
	if !v.ActsBelowRoot() || v.Root() != "/" && running(v) != v {
		return nil, nil // nothing runs below this root, or nobody can be asked there
	}
	system, err := gatherInit(ctx, v)
	switch {
	case err != nil:
		return nil, err
	case system == "systemd":
		return systemdServices(ctx, v)
	case system == "openrc":
		return openrcServices(v)
	}
	return nil, nil
}

// systemdServices asks systemctl for the services in memory and for those on the disk.
func systemdServices(ctx context.Context, v *host.View) (any, error) {
	branch := make(map[string]any)
	of := func(unit string) map[string]any {
		name, ok := strings.CutSuffix(unit, ".service")
		if !ok || strings.HasSuffix(name, "@") {
			return make(map[string]any) // a template
		}
		s, _ := branch[name].(map[string]any)
		if s == nil {
			s = map[string]any{"running": false, "enabled": false}
			branch[name] = s
		}
		return s
	}
	files, err := systemctlList(ctx, v, "list-unit-files")
	if err != nil {
		return nil, err
	}
	for _, fields := range files {
		s := of(fields[0])
		s["startup"], s["enabled"] = fields[1], strings.HasPrefix(fields[1], "enabled")
	}
	units, err := systemctlList(ctx, v, "list-units")
	if err != nil {
		return nil, err
	}
	for _, fields := range units {
		if len(fields) < 3 || fields[1] == "not-found" {
			continue
		}
		s := of(fields[0])
		s["active"], s["running"] = fields[2], fields[2] == "active"
	}
	return branch, nil
}

// systemctlList returns the fields of the lines of a list.
func systemctlList(ctx context.Context, v *host.View, list string) (lines [][]string, err error) {
	c := host.Cmd{Argv: []string{"systemctl", list, "--system", "--type=service", "--all", "--plain", "--full", "--no-legend", "--no-pager"}, Env: []string{"SYSTEMD_COLORS=0"}}
	res, err := v.Query(ctx, c)
	if err == nil {
		err = res.Err(c)
	}
	for line := range strings.Lines(string(res.Stdout)) {
		if fields := strings.Fields(line); len(fields) >= 2 {
			lines = append(lines, fields)
		}
	}
	return lines, err
}

// openrcServices reads the directories in which OpenRC notes what runs, and which services
// are in the runlevels of a boot.
func openrcServices(v *host.View) (any, error) {
	names := func(dir string) ([]string, error) {
		if there, err := v.IsDirectory(dir); !there {
			return nil, err
		}
		return v.ReadDir(dir)
	}
	started, err := names("/run/openrc/started")
	if err != nil {
		return nil, err
	}
	var enabled []string
	for _, level := range []string{"sysinit", "boot", "default"} {
		list, err := names(path.Join("/etc/runlevels", level))
		if err != nil {
			return nil, err
		}
		enabled = append(enabled, list...)
	}
	scripts, err := names("/etc/init.d")
	branch := make(map[string]any)
	for _, name := range scripts {
		branch[name] = map[string]any{"running": slices.Contains(started, name), "enabled": slices.Contains(enabled, name)}
	}
	return branch, err
}
