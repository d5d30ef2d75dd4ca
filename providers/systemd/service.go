package systemd

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/luaccm/ccm/providers/svctool"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/words"
)

type services struct {
	ctl      manager
	reloader reloader
	wait     svctool.Wait

	startups svctool.Startups[startup]
}

var (
	_ resources.ServiceProvider = (*services)(nil)
)

func newServices(wait svctool.Wait) *services {
	return &services{ctl: manager{scope: systemScope}, wait: wait}
}

// Status implements resources.ServiceProvider.
func (s *services) Status(ctx context.Context, v *host.View, want resources.Service) (resources.ServiceState, error) {
	states, errs := s.StatusAll(ctx, v, []resources.Service{want})
	return states[0], errs[0]
}

// StatusAll reports the states of services: systemd is asked once for all.
func (s *services) StatusAll(ctx context.Context, v *host.View, wants []resources.Service) ([]resources.ServiceState, []error) {
	states := make([]resources.ServiceState, len(wants))
	linked, err := s.ctl.links(v)
	if s.ctl.login != nil {
		err = nil // a link that a user made in his own directories does not matter
	}
	if err == nil {
		err = s.ctl.isRunning(ctx, v, s.wait)
	}
	if err == nil && v.Offline() != "" {
		return s.offlineStates(ctx, v, wants, linked)
	}
	if err != nil {
		return states, slices.Repeat([]error{err}, len(wants))
	}
	names := make([]string, len(wants))
	for i, want := range wants {
		names[i] = unitName(want.ServiceName())
	}
	notUp := make([]error, len(wants))
	for i, want := range wants {
		notUp[i] = s.watchStart(ctx, v, want)
	}
	units, errs := s.ctl.status(ctx, v, names...)
	for i, err := range notUp {
		if err != nil {
			errs[i] = err
		}
	}
	s.settle(ctx, v, units, errs)
	for i, want := range wants {
		if errs[i] == nil {
			states[i], errs[i] = s.state(ctx, v, want, units[i], linked)
		}
	}
	return states, errs
}

// offlineStates returns the states of services of a machine that is not running. Is-enabled reads its disk.
func (s *services) offlineStates(ctx context.Context, v *host.View, wants []resources.Service, linked map[string]string) ([]resources.ServiceState, []error) {
	states, errs := make([]resources.ServiceState, len(wants)), make([]error, len(wants))
	for i, want := range wants {
		u := unit{name: unitName(want.ServiceName()), ActiveState: "inactive"}
		u.Id = u.name
		if path, _ := s.ctl.pendingFile(v, u.Id); path != "" {
			errs[i] = &resource.UnknownError{Reason: "the unit file " + path + " is pending"}
			continue
		}
		if u.UnitFileState, errs[i] = s.ctl.isEnabled(ctx, v, u.name); errs[i] != nil {
			continue
		}
		want.Ensure, want.OnChange = resources.ServiceUnmanaged, resources.ServiceRestart
		states[i], errs[i] = s.stateOf(ctx, v, want, u, linked)
		states[i].Offline = v.Offline()
	}
	return states, errs
}

// state returns the state of one service. In a plan it may depend on a pending unit file.
func (s *services) state(ctx context.Context, v *host.View, want resources.Service, u unit, linked map[string]string) (have resources.ServiceState, err error) {
	path, kind := s.ctl.pendingFile(v, u.Id)
	if u.LoadState == "not-found" && kind == safepath.Regular && strings.HasSuffix(path, ".service") {
		if text, err := v.ReadFile(path); err == nil {
			return s.newState(want, u, string(text), linked)
		}
	}
	unknown := &resource.UnknownError{Reason: "the unit file " + path + " is pending"}
	if path != "" && (kind == safepath.Missing || u.LoadState != "loaded" && u.LoadState != "masked") {
		return have, unknown
	}
	if u.UnitFileState, err = s.unitFileState(ctx, v, u, linked); err != nil {
		return have, err
	}
	return s.stateOf(ctx, v, want, u, linked)
}

// newState returns the state of a unit that a plan is going to make: nothing has started it yet, and it can be enabled
// if its text says how.
func (s *services) newState(want resources.Service, u unit, text string, linked map[string]string) (resources.ServiceState, error) {
	u.LoadState, u.ActiveState, u.UnitFileState = "loaded", "inactive", "static"
	switch {
	case linked[u.Id] != "":
		u.UnitFileState = "enabled"
	case strings.Contains("\n"+text, "\n[Install]"):
		u.UnitFileState = "disabled"
	}
	return u.state(want.Ensure != resources.ServiceUnmanaged)
}

// stateOf is state for a unit whose UnitFileState is that on disk.
func (s *services) stateOf(ctx context.Context, v *host.View, want resources.Service, u unit, linked map[string]string) (have resources.ServiceState, err error) {
	path, _ := s.ctl.pendingFile(v, u.Id)
	unknown := &resource.UnknownError{Reason: "the unit file " + path + " is pending"}
	if path != "" && want.Enable != nil && u.installs() {
		return have, unknown
	}
	have, err = u.state(want.Ensure != resources.ServiceUnmanaged)
	switch {
	case err != nil:
	case have.Missing && want.Mask != nil && *want.Mask:
		have = resources.ServiceState{Active: "inactive"} // a package may bring it later
	case have.Missing && linked[u.Id] != "":
		return have, fmt.Errorf("service not found: %s (its symlink %s remains: run systemctl disable %s)", want.ServiceName(), linked[u.Id], want.ServiceName())
	case u.UnitFileState == indirect:
		have.Enabled, err = s.enabledByOthers(ctx, v, u)
	}
	if err == nil && have.Running {
		err = s.setRunning(ctx, v, want, u, &have)
	}
	if err == nil && want.MayReload() && !have.Missing && !have.Masked {
		err = s.setReloads(ctx, v, u.name, &have)
	}
	if err == nil && want.Mask != nil && !have.Missing {
		have.EnabledUnmasked = have.Masked && linked[u.Id] != ""
		if !have.Masked {
			have.CannotMask, err = s.ctl.cannotMask(v, u.name)
		}
	}
	return have, err
}

// enabledByOthers reports whether an indirect unit starts at boot: one of the units in its Also= is enabled. One
// without Also= is indirect because an alias or an instance of it is enabled.
func (s *services) enabledByOthers(ctx context.Context, v *host.View, u unit) (bool, error) {
	names, err := s.ctl.also(v, u)
	if err != nil || len(names) == 0 || strings.Contains(strings.Join(names, ""), "%") {
		return true, err
	}
	for _, name := range names {
		word, err := s.ctl.isEnabled(ctx, v, name)
		if err != nil || word == "enabled" || word == "enabled-runtime" {
			return err == nil, err
		}
	}
	return false, nil
}

// A unit that systemd has restarted at least flapRestarts times by itself, the last time less than
// flapUptime ago, does not stay up. One that it has restarted once has to be up for its settle time.
const (
	flapRestarts = 3
	flapUptime   = 10 * time.Second
)

// setRunning sets Flapping and TriggeredBy of a unit that runs.
func (s *services) setRunning(ctx context.Context, v *host.View, want resources.Service, u unit, have *resources.ServiceState) error {
	uptime := func() time.Duration { return v.Now().Sub(parseTime(u.ActiveEnterTimestamp)) }
	young := want.Ensure == resources.ServiceRunning && want.Settle > 0 && uptime() < flapUptime
	stops := want.Ensure == resources.ServiceStopped || want.Mask != nil && *want.Mask
	if !young && !stops {
		return nil
	}
	u, err := s.ctl.one(ctx, v, u.name)
	if err != nil {
		return err
	}
	restarts, _ := strconv.Atoi(u.NRestarts)
	if young && (restarts >= flapRestarts || restarts > 0 && uptime() < time.Duration(want.Settle)) {
		have.Flapping = fmt.Sprintf("systemd restarted the service %s, the last time %d s ago%s%s",
			words.Count(restarts, "time"), max(0, int(uptime().Seconds())), u.end(), s.ctl.log(ctx, v, u.name))
	}
	if !stops || u.TriggeredBy == "" {
		return nil
	}
	triggers, errs := s.ctl.status(ctx, v, strings.Fields(u.TriggeredBy)...)
	var active []string
	for i, t := range triggers {
		if errs[i] == nil && t.ActiveState == "active" {
			active = append(active, t.Id)
		}
	}
	have.TriggeredBy = strings.Join(active, ", ")
	return nil
}

// setReloads sets CannotReload and Outdated: whether the unit cannot reload, and whether systemd or
// the process uses another definition than the present one or, in a plan, the pending one.
func (s *services) setReloads(ctx context.Context, v *host.View, name string, have *resources.ServiceState) error {
	u, err := s.ctl.one(ctx, v, name)
	if err != nil {
		return err
	}
	have.CannotReload = u.CanReload == "no"
	if have.Outdated, err = s.ctl.outdated(v, u); err == nil && !have.Outdated {
		have.Outdated, err = s.ctl.hasPendingDefinition(v, u.Id)
	}
	if err == nil {
		have.Older, err = u.isOlder(v)
	}
	return err
}

// unitFileState returns the answer of is-enabled. The answer of show dates from the time when
// systemd last read its unit files; if the disk may differ, is-enabled is asked.
func (s *services) unitFileState(ctx context.Context, v *host.View, u unit, linked map[string]string) (string, error) {
	if s.ctl.login != nil {
		return s.ctl.isEnabled(ctx, v, u.Id)
	}
	if u.LoadState == "not-found" {
		if file, err := s.ctl.unitFile(v, u.Id); err != nil || file == "" {
			return notFound, err
		}
	}
	doubt := u.NeedDaemonReload != "no"
	switch u.UnitFileState {
	case "masked", "masked-runtime", "transient":
	case "enabled", "enabled-runtime":
		doubt = doubt || linked[u.Id] == ""
	case "", "bad", "generated":
		doubt = true
	default:
		doubt = doubt || linked[u.Id] != ""
	}
	if !doubt {
		return u.UnitFileState, nil
	}
	return s.ctl.isEnabled(ctx, v, u.Id)
}

// Start implements resources.ServiceProvider.
func (s *services) Start(ctx context.Context, h *host.Host, want resources.Service) error {
	return s.bringUp(ctx, h, "start", want)
}

// Restart implements resources.ServiceProvider.
func (s *services) Restart(ctx context.Context, h *host.Host, want resources.Service) error {
	return s.bringUp(ctx, h, "restart", want)
}

// Reload implements resources.ServiceProvider.
func (s *services) Reload(ctx context.Context, h *host.Host, want resources.Service) error {
	return s.bringUp(ctx, h, "reload", want)
}

// bringUp performs a verb after which the service has to be up.
func (s *services) bringUp(ctx context.Context, h *host.Host, verb string, want resources.Service) error {
	if err := s.act(ctx, h, verb, want.ServiceName()); err != nil {
		if u, lookErr := s.ctl.one(ctx, &h.View, unitName(want.ServiceName())); lookErr == nil && (u.ActiveState == "failed" || verb == "reload") {
			err = fmt.Errorf("%w%s%s", err, u.end(), s.ctl.log(ctx, &h.View, u.name))
		}
		return err
	}
	did := "started"
	if verb == "reload" {
		did = "reloaded"
	}
	return s.recordStart(ctx, h, want, did)
}

// Stop implements resources.ServiceProvider.
func (s *services) Stop(ctx context.Context, h *host.Host, want resources.Service) error {
	return s.act(ctx, h, "stop", want.ServiceName())
}

// Enable implements resources.ServiceProvider.
func (s *services) Enable(ctx context.Context, h *host.Host, want resources.Service) error {
	return s.act(ctx, h, "enable", want.ServiceName())
}

// Disable implements resources.ServiceProvider. It also disables a service that is enabled only
// until the next boot, for which systemctl needs an option.
func (s *services) Disable(ctx context.Context, h *host.Host, want resources.Service) error {
	link, target, err := s.ctl.linkOf(&h.View, unitName(want.ServiceName()))
	if err == nil {
		err = s.act(ctx, h, "disable", want.ServiceName())
	}
	if err == nil && target != "" {
		err = s.relink(ctx, h, link, target)
	}
	if err != nil {
		return err
	}
	word, err := s.ctl.isEnabled(ctx, &h.View, unitName(want.ServiceName()))
	switch {
	case err != nil:
		return err
	case word == "enabled-runtime":
		return s.ctl.do(ctx, h, s.ctl.systemctl("disable", "--runtime", want.ServiceName()))
	case word != indirect || h.Offline() != "":
		return nil
	}
	u, err := s.ctl.one(ctx, &h.View, unitName(want.ServiceName()))
	if err != nil {
		return err
	}
	if enabled, err := s.enabledByOthers(ctx, &h.View, u); err != nil || !enabled {
		return err
	}
	return fmt.Errorf("%w: the service is still indirect, which counts as enabled, because an alias or instance of it is enabled", resource.ErrDesiredStateFailed)
}

// relink makes a link to a unit file again if disable has removed it: without it, systemd would not know
// the unit any more.
func (s *services) relink(ctx context.Context, h *host.Host, link, target string) error {
	info, err := h.Lstat(link)
	if err != nil || info.Kind != safepath.Missing {
		return err
	}
	if strings.HasPrefix(link, "/run/") {
		return s.ctl.do(ctx, h, s.ctl.systemctl("link", "--runtime", target))
	}
	return s.ctl.do(ctx, h, s.ctl.systemctl("link", target))
}

// Mask implements resources.ServiceProvider.
func (s *services) Mask(ctx context.Context, h *host.Host, want resources.Service) error {
	return s.act(ctx, h, "mask", want.ServiceName())
}

// Unmask implements resources.ServiceProvider. It also removes a mask until the next boot, for
// which systemctl needs an option.
func (s *services) Unmask(ctx context.Context, h *host.Host, want resources.Service) error {
	if err := s.act(ctx, h, "unmask", want.ServiceName()); err != nil {
		return err
	}
	word, err := s.ctl.isEnabled(ctx, &h.View, unitName(want.ServiceName()))
	if err == nil && word == "masked-runtime" {
		err = s.ctl.do(ctx, h, s.ctl.systemctl("unmask", "--runtime", want.ServiceName()))
	}
	return err
}

// act performs a verb of systemctl on a service.
func (s *services) act(ctx context.Context, h *host.Host, verb, name string) error {
	if h.Offline() != "" {
		return s.ctl.do(ctx, h, s.ctl.systemctl(verb, name))
	}
	if err := s.reloader.reloadIfNeeded(ctx, h, &s.ctl, unitName(name)); err != nil {
		return err
	}
	return s.ctl.do(ctx, h, s.ctl.systemctl(verb, name))
}
