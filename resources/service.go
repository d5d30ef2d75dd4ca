package resources

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/lazyregexp"
	"github.com/luaccm/ccm/runtime/resource"
)

// ServiceType is the type of system services.
var ServiceType = resource.Define[Service, ServiceState, ServiceProvider]("service")

// Service manages whether a service runs and whether it starts at boot. The two
// are independent of each other. A change of something it subscribes to restarts
// or reloads it, if it is to be running and is.
type Service struct {
	// Name is the name of the service, not an alias, unless service has the name. It may contain
	// letters, digits and . _ + : ~ @ - characters. Units of other kinds have their full name, such as
	// "backup.timer", "app.socket" or "app.target". Instances of templates are written "getty@tty1".
	Name string `ccm:"name,name,example=nginx,kind=service"`
	// Service is the name of the service, if it differs from the name of the resource. So two users
	// can have the same service: "sync-alice" and "sync-bob" with service = "sync".
	Service string `ccm:"service,example=nginx,kind=service"`
	// Ensure is whether the service runs: running, stopped, or unmanaged, which manages only enable
	// and mask and never restarts the service. In an image, running means enabled for the first boot
	// and stopped disabled for it, unless enable is set.
	Ensure ServiceEnsure `ccm:"ensure,default=running"`
	// Enable is whether the service starts at boot. By default this is not changed. A service that
	// others start and that cannot be enabled itself (systemd: static, generated) counts as enabled.
	// One with others in its Also= (systemd: indirect) is enabled if one of them is, such as its
	// socket.
	Enable *bool `ccm:"enable,usual"`
	// Mask is whether the service is masked: neither people nor other units can start it. True also
	// stops the service, unless ensure is unmanaged. The service need not exist yet: its package then
	// does not start it. False removes a mask. By default this is not changed.
	Mask *bool `ccm:"mask"`
	// Scope is system, or user for a service of the service manager of a user. That runs while the
	// user is logged in, and always after "loginctl enable-linger". Only systemd has such services.
	Scope ServiceScope `ccm:"scope,default=system"`
	// User is the user of the service, with scope = "user". The default is the user who runs ccm.
	User string `ccm:"user,example=alice,kind=owner"`
	// OnChange is what to do when a resource that the service subscribes to changes: restart, reload,
	// or reload-or-restart. Reload makes it read its configuration again, and fails if it cannot.
	// Reload-or-restart restarts it if it cannot reload or if its unit file has changed.
	OnChange ServiceOnChange `ccm:"on_change,default=restart,usual"`
	// Settle is how long the service must stay up after the run started, restarted or reloaded it. It
	// fails if it ends earlier, or if the service manager restarts it repeatedly. 0 disables the
	// check. A service that already runs is not waited for. It fails if the service manager has
	// restarted it at least three times, the last time less than 10 seconds ago.
	Settle host.Duration `ccm:"settle,default=1s"`
}

// A ServiceEnsure is a desired value of ensure for a service.
type ServiceEnsure string

// The values of ServiceEnsure.
const (
	ServiceRunning   ServiceEnsure = "running"
	ServiceStopped   ServiceEnsure = "stopped"
	ServiceUnmanaged ServiceEnsure = "unmanaged"
)

// Values implements schema.Enum.
func (ServiceEnsure) Values() []string { return []string{"running", "stopped", "unmanaged"} }

// A ServiceScope describes whose service it is.
type ServiceScope string

// The values of ServiceScope.
const (
	SystemService ServiceScope = "system"
	UserService   ServiceScope = "user"
)

// Values implements schema.Enum.
func (ServiceScope) Values() []string { return []string{"system", "user"} }

// A ServiceOnChange is what a refresh of a service does.
type ServiceOnChange string

// The values of ServiceOnChange.
const (
	ServiceRestart         ServiceOnChange = "restart"
	ServiceReload          ServiceOnChange = "reload"
	ServiceReloadOrRestart ServiceOnChange = "reload-or-restart"
)

// Values implements schema.Enum.
func (ServiceOnChange) Values() []string { return []string{"restart", "reload", "reload-or-restart"} }

// ServiceState is the state of a service. The zero value is a stopped service that does not start
// at boot.
type ServiceState struct {
	// Missing is set if there is no such service. Then the other fields are unknown.
	Missing bool
	// Running is whether the service runs, Enabled whether it starts at boot.
	Running, Enabled bool
	// Active and Startup are the service manager's words for these, such as failed and static.
	Active, Startup string
	// Starting is set if the service is starting and does not run yet.
	Starting bool
	// Masked is set if the service can be neither started nor enabled.
	Masked bool
	// EnabledUnmasked is whether a masked service will start at boot once it is unmasked.
	// CannotMask is the reason why the service cannot be masked, "" if it can. Both are set only
	// if mask is managed.
	EnabledUnmasked bool
	CannotMask      string
	// CannotEnable is the reason why Enable and Disable cannot change Enabled, "" if they can.
	CannotEnable string
	// CannotReload is set if the service cannot reload. Outdated is set if its definition in the
	// service manager has changed on disk or is about to. Both are set only if
	// [Service.MayReload].
	CannotReload, Outdated bool
	// Flapping describes a service that runs and does not stay up, because the service manager
	// restarts it again and again; "" for any other.
	Flapping string
	// TriggeredBy names the units, such as a socket, that start the service again once it is
	// stopped; "" if there are none.
	TriggeredBy string
	// Offline is the reason why no services run on the machine ([host.View.Offline]), "" if they do.
	Offline string
	// Older is set if the service was started before its present definition was written,
	// which a reload does not make it use either.
	Older bool
}

// CurrentEnsure implements resource.StateEnsure.
func (s ServiceState) CurrentEnsure() string {
	switch {
	case s.Missing:
		return ""
	case s.Running:
		return string(ServiceRunning)
	}
	return string(ServiceStopped)
}

// ServiceProvider manages services.
type ServiceProvider interface {
	// Status reports whether the service runs and whether it starts at boot. It waits a few
	// seconds for a service that is starting or stopping.
	Status(ctx context.Context, v *host.View, want Service) (ServiceState, error)
	// Start starts the service. If the service does not stay up, that is an error of Start or of
	// the next Status, which waits for want.Settle.
	Start(ctx context.Context, h *host.Host, want Service) error
	// Stop stops the service.
	Stop(ctx context.Context, h *host.Host, want Service) error
	// Restart stops and starts the service. It has to stay up as after Start.
	Restart(ctx context.Context, h *host.Host, want Service) error
	// Reload makes the service read its configuration again. It has to stay up as after Start.
	Reload(ctx context.Context, h *host.Host, want Service) error
	// Enable makes the service start at boot.
	Enable(ctx context.Context, h *host.Host, want Service) error
	// Disable makes the service not start at boot.
	Disable(ctx context.Context, h *host.Host, want Service) error
	// Mask prevents every start of the service. It does not stop the service.
	Mask(ctx context.Context, h *host.Host, want Service) error
	// Unmask removes the mask.
	Unmask(ctx context.Context, h *host.Host, want Service) error
}

// serviceName matches names that are not dangerous. Names of units may have bytes escaped by
// systemd: srv-data\x2d1.mount is the unit of /srv/data-1.
var serviceName = lazyregexp.New(`^([a-zA-Z0-9._+:~@-]|\\x[0-9a-f]{2})+$`)

// Traits implements resource.Characterized.
func (s Service) Traits() resource.Traits {
	return resource.Traits{
		IsService: true, SettleTime: time.Duration(s.Settle), ProviderIgnoresSpec: true,
		FreshState: func(v *host.View) any { return ServiceState{Offline: v.Offline()} },
	}
}

// ServiceName returns the name in the service manager.
func (s Service) ServiceName() string { return cmp.Or(s.Service, s.Name) }

// MayReload reports whether a refresh may reload the service.
func (s Service) MayReload() bool {
	return s.OnChange == ServiceReload || s.OnChange == ServiceReloadOrRestart
}

// Validate implements resource.Spec.
func (s Service) Validate() error {
	property, name := "name", s.ServiceName()
	if s.Service != "" {
		property = "service"
	}
	switch {
	case s.Name == "":
		return wrong("name", "%w", diag.Expected("the name of a service").Got("an empty string"))
	case !serviceName().MatchString(name):
		return wrong(property, "service name contains dangerous characters: %q: %w", name, diag.Expected("letters, digits and . _ + : ~ @ -"))
	case strings.HasPrefix(name, "@"):
		return wrong(property, "%w", diag.Expected("the name of a template before the @").Got("%q", name))
	case isTemplate(name):
		return wrong(property, "%w", diag.Expected("an instance of a template, such as getty@tty1").Got("the template itself: %q", name))
	case strings.HasPrefix(name, "-"):
		return wrong(property, "%w", diag.Expected("a name that does not begin with a hyphen, as options do").Got("%q", name))
	case s.User != "" && s.Scope != UserService:
		return wrong("user", `user requires scope = "user"`)
	case s.Ensure == ServiceUnmanaged && s.Enable == nil && s.Mask == nil:
		return wrong("ensure", "unmanaged requires enable or mask")
	case s.isToBeMasked() && s.Enable != nil && *s.Enable:
		return wrong("enable", "a masked service cannot start at boot")
	}
	return nil
}

// isTemplate reports whether a name is that of a template, which itself never runs.
func isTemplate(name string) bool {
	_, instance, ok := strings.Cut(name, "@")
	return ok && (instance == "" || instance[0] == '.')
}

// ValidateWith implements resource.CommonValidator: an unmanaged service cannot subscribe,
// because a change would restart it.
func (s Service) ValidateWith(c resource.Common) error {
	if s.Ensure != ServiceUnmanaged || len(c.Subscribe) == 0 {
		return nil
	}
	err := wrong("subscribe", "an unmanaged service is never restarted")
	err.Hint = "use require, or ensure = \"running\""
	return err
}

func (s Service) isToBeMasked() bool { return s.Mask != nil && *s.Mask }

// runState returns the desired run state: a masked service must not run.
func (s Service) runState() ServiceEnsure {
	if s.Ensure == ServiceRunning && s.isToBeMasked() {
		return ServiceStopped
	}
	return s.Ensure
}

// WantedEnsure implements resource.EnsureReporter.
func (s Service) WantedEnsure() string { return string(s.runState()) }

// Decide implements resource.Spec.
func (s Service) Decide(have ServiceState) (d resource.Decision) {
	if have.Offline != "" {
		return s.decideOffline(have)
	}
	if have.Missing {
		return resource.Decision{Err: fmt.Errorf("service not found: %s", s.ServiceName())}
	}
	if have.Masked && s.Mask != nil && !*s.Mask {
		d.Add("mask", "true", "false")
		d.AddAction("Unmask", "unmasked")
		have.Masked, have.Enabled, have.CannotEnable = false, have.EnabledUnmasked, ""
	}
	switch ensure := s.runState(); {
	case ensure == ServiceRunning && !have.Running:
		d.Add("ensure", string(ServiceStopped), string(ServiceRunning))
		d.AddAction("Start", "started")
		if have.Masked {
			d.Err = errMasked("running")
		}
	case ensure == ServiceRunning && have.Flapping != "":
		d.Err = diag.Expected("the service running").Found("that it does not stay up: %s", have.Flapping)
	case ensure == ServiceStopped && have.Running:
		d.Add("ensure", string(ServiceRunning), string(ServiceStopped))
		phrase := "stopped"
		if have.TriggeredBy != "" && !s.isToBeMasked() {
			phrase = fmt.Sprintf("stopped (%s can start it again: stop that too, or set mask = true)", have.TriggeredBy)
		}
		d.AddAction("Stop", phrase)
	case ensure == ServiceStopped && have.Starting:
		// A service that is starting counts as stopped, but would run a moment later.
		d.Add("ensure", "starting", string(ServiceStopped))
		d.AddAction("Stop", "stopped")
	}
	if s.Enable != nil && *s.Enable != have.Enabled {
		d.Add("enable", strconv.FormatBool(have.Enabled), strconv.FormatBool(*s.Enable))
		switch {
		case have.Masked && *s.Enable:
			d.Err = errors.Join(d.Err, errMasked("enabled"))
		case have.CannotEnable != "" && s.isToBeMasked():
			// A masked service does not start at boot.
		case have.CannotEnable != "":
			d.Err = errors.Join(d.Err, diag.Expected("enable = %t", *s.Enable).Found("the service %s, which cannot be changed: %s", have.Startup, have.CannotEnable))
		case *s.Enable:
			d.AddAction("Enable", "enabled")
		default:
			d.AddAction("Disable", "disabled")
		}
	}
	if s.isToBeMasked() && !have.Masked {
		d.Add("mask", "false", "true")
		d.AddAction("Mask", "masked")
		if have.CannotMask != "" {
			d.Err = errors.Join(d.Err, diag.SubjectCannot("the service", "be masked: %s", have.CannotMask))
		}
	}
	if s.OnChange == ServiceReload && s.runState() == ServiceRunning && have.CannotReload && !have.Outdated {
		// The mistake is reported even if no change needs a reload yet.
		d.Err = errors.Join(d.Err, diag.Expected("a service that can reload").Found(`one that cannot (restart it with on_change = "reload-or-restart")`))
	}
	if d.Err != nil {
		d.Actions = nil
	}
	return d
}

// decideOffline is Decide for a machine that is not running: a service that is to be running is enabled, so that it starts
// at the first boot, one that is to be stopped is disabled, and none is started or stopped.
func (s Service) decideOffline(have ServiceState) resource.Decision {
	ensure := s.runState()
	boots := s.Enable == nil && ensure != ServiceUnmanaged && have.CannotEnable == "" && !s.isToBeMasked()
	if boots {
		s.Enable = new(ensure == ServiceRunning)
	}
	s.Ensure, have.Offline = ServiceUnmanaged, ""
	d := s.Decide(have)
	for i, a := range d.Actions {
		if boots && (a.Verb == "Enable" || a.Verb == "Disable") {
			d.Actions[i].Phrase += " for the first boot"
		}
	}
	return d
}

func errMasked(want string) error {
	return diag.Expected("the service %s", want).Found("a masked one (unmask it with mask = false)")
}

// Refresh implements resource.Refresher: a service that runs and has to run is restarted or
// reloaded. A service that is started or stopped is not restarted as well. A reload does not
// apply a new definition of the service.
func (s Service) Refresh(have ServiceState, d resource.Decision) resource.Decision {
	a := resource.Action{Verb: "Restart", Phrase: "restarted"}
	if s.OnChange == ServiceReload || s.OnChange == ServiceReloadOrRestart && !have.CannotReload && !have.Outdated && !have.Older && !have.Masked {
		a = resource.Action{Verb: "Reload", Phrase: "reloaded"}
	}
	if have.Offline == "" && have.Flapping != "" { // what it subscribes to may have been the reason
		have.Flapping = ""
		d = s.Decide(have)
	}
	d.DroppedRefresh = have.Offline
	switch {
	case d.Err != nil || have.Offline != "" || s.runState() != ServiceRunning || !have.Running:
	case have.Masked && s.Mask == nil:
		d.Err = errMasked(a.Phrase)
	case have.Masked: // once it is unmasked
		d.Actions = slices.Insert(slices.Clone(d.Actions), 1, a)
	default:
		d.Actions = slices.Insert(slices.Clone(d.Actions), 0, a)
	}
	return d
}

// Perform implements resource.Spec.
func (s Service) Perform(ctx context.Context, h *host.Host, p ServiceProvider, a resource.Action) error {
	switch a.Verb {
	case "Start":
		return p.Start(ctx, h, s)
	case "Stop":
		return p.Stop(ctx, h, s)
	case "Restart":
		return p.Restart(ctx, h, s)
	case "Reload":
		return p.Reload(ctx, h, s)
	case "Enable":
		return p.Enable(ctx, h, s)
	case "Disable":
		return p.Disable(ctx, h, s)
	case "Mask":
		return p.Mask(ctx, h, s)
	case "Unmask":
		return p.Unmask(ctx, h, s)
	}
	return diag.Unknown("verb of service", a.Verb, nil)
}
