package systemd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
)

// systemctl returns a command of systemctl. Whatever the environment, its output has no colors,
// pager, questions or local times.
func systemctl(args ...string) host.Cmd {
	return host.Cmd{
		Argv: append([]string{"systemctl"}, args...),
		Env:  []string{"SYSTEMD_COLORS=0", "SYSTEMD_PAGER=", "TZ=UTC"},
	}
}

// offline has systemctl change links, and reach no manager, on a machine that is not running.
func offline(v *host.View, c host.Cmd) host.Cmd {
	if v.Offline() != "" {
		c.Env = append(slices.Clip(c.Env), "SYSTEMD_OFFLINE=1")
	}
	return c
}

// ask runs a command that only looks.
func (m *manager) ask(ctx context.Context, v *host.View, c host.Cmd) (host.Result, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return v.Query(ctx, offline(v, c))
}

// do runs a command that changes something. Its error has systemctl's message.
func (m *manager) do(ctx context.Context, h *host.Host, c host.Cmd) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	res, err := h.Run(ctx, offline(&h.View, c))
	if err != nil {
		return err
	}
	return res.Err(c)
}

// show asks systemctl for units. If it does not answer for all of them, each is asked for by
// itself.
func (m *manager) show(ctx context.Context, v *host.View, names ...string) ([]unit, []error) {
	units, errs := make([]unit, len(names)), make([]error, len(names))
	c := m.systemctl("show", append([]string{"--property=" + strings.Join(properties, ","), "--"}, names...)...)
	res, err := m.ask(ctx, v, c)
	if err == nil {
		err = res.Err(c)
	}
	if err == nil {
		if blocks := blocksOf(string(res.Stdout)); len(blocks) == len(names) {
			for i, b := range blocks {
				units[i], errs[i] = parseUnit(names[i], b)
			}
			return units, errs
		}
		err = fmt.Errorf("systemctl show: %w", diag.Expected("properties of %d units, got:\n%s", len(names), res.Stdout))
	}
	if len(names) == 1 || ctx.Err() != nil {
		for i := range errs {
			errs[i] = err
		}
		return units, errs
	}
	for i, name := range names {
		u, e := m.show(ctx, v, name)
		units[i], errs[i] = u[0], e[0]
	}
	return units, errs
}

// notFound is the answer of is-enabled for a missing unit file.
const notFound = "not-found"

// indirect is the answer of is-enabled for a unit that is not enabled itself, but names others in its Also=, or has an
// alias or an instance that is enabled.
const indirect = "indirect"

// isEnabled returns the answer of is-enabled for a unit. Unlike show, is-enabled reads the disk,
// and knows the services of System V init.
func (m *manager) isEnabled(ctx context.Context, v *host.View, name string) (string, error) {
	c := m.systemctl("is-enabled", name)
	res, err := m.ask(ctx, v, c)
	if err != nil {
		return "", err
	}
	// The exit code adds nothing to the word. Older versions have no word for a missing unit.
	word := strings.TrimSpace(string(res.Stdout))
	switch {
	case word != "":
		return word, nil
	case strings.Contains(string(res.Stderr), "No such file or directory"):
		return notFound, nil
	}
	return "", fmt.Errorf("%s: %w%s", c, diag.ExitStatus(res.Code), res.LastWords())
}

// log returns the last lines of a unit's log, or "". The journal may lag behind the services, so
// it is first asked to sync, which only root may do.
func (m *manager) log(ctx context.Context, v *host.View, name string) string {
	_, _ = m.ask(ctx, v, host.Cmd{Argv: []string{"journalctl", "--sync"}, Timeout: 5 * time.Second})
	res, err := m.ask(ctx, v, host.Cmd{Argv: slices.Concat([]string{"journalctl"}, m.logOf(name), []string{"-n", "10", "--no-pager", "-o", "cat"})})
	lines := strings.TrimSpace(string(res.Stdout))
	if err != nil || res.Code != 0 || lines == "" || strings.HasPrefix(lines, "-- No entries --") {
		return ""
	}
	return "\nits log ends with:\n  " + strings.ReplaceAll(lines, "\n", "\n  ")
}
