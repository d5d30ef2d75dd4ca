package resources

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// ServiceType is the type of system services.
var ServiceType = resource.Define[Service, ServiceState, ServiceProvider]("service")

// Service manages whether a service runs and whether it starts at boot. The two
// are independent of each other. A change of something it subscribes to restarts
// it, if it is to be running and is.
type Service struct {
	// Name is the name of the service itself, not an alias of it. It may hold
	// letters, digits and . _ + : ~ -
	Name string `ccm:"name,name,example=nginx"`
	// Ensure says whether the service is to be running or stopped.
	Ensure ServiceEnsure `ccm:"ensure,default=running"`
	// Enable says whether the service is to start at boot. Left out, that stays
	// as it is. A service that others start and that cannot be enabled by itself
	// (systemd: static, indirect, generated) counts as enabled.
	Enable *bool `ccm:"enable"`
	// Settle is how long the service has to stay up after it was started or
	// restarted in a run. One that ends before that has failed, and so has one that
	// the service manager starts again and again. 0 turns that off. A service that
	// runs already is not waited for.
	Settle host.Duration `ccm:"settle,default=1s"`
}

// A ServiceEnsure is what can be wanted of a service.
type ServiceEnsure string

// The values of ServiceEnsure.
const (
	ServiceRunning ServiceEnsure = "running"
	ServiceStopped ServiceEnsure = "stopped"
)

// Values implements schema.Enum.
func (ServiceEnsure) Values() []string { return []string{"running", "stopped"} }

// ServiceState is a service as it is. Its zero value is one that is stopped and
// does not start at boot.
type ServiceState struct {
	// Missing is set if there is no such service. Nothing else is known then.
	Missing bool
	// Running says whether it runs, Enabled whether it starts at boot.
	Running, Enabled bool
	// Active and Startup are what the service manager calls that, such as failed
	// and static.
	Active, Startup string
	// Starting is set if it does not run yet and is still on its way up.
	Starting bool
	// Masked is set if it may be neither started nor enabled.
	Masked bool
	// Fixed says why neither Enable nor Disable can change Enabled, "" if they
	// can.
	Fixed string
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
	// Status looks whether the service runs and whether it starts at boot. One
	// that is on its way up or down is given a few seconds to get there.
	Status(ctx context.Context, v *host.View, want Service) (ServiceState, error)
	// Start starts the service. That it does not stay up is an error of Start, or
	// of the next Status, which waits until it has stayed up for want.Settle.
	Start(ctx context.Context, h *host.Host, want Service) error
	// Stop stops the service.
	Stop(ctx context.Context, h *host.Host, want Service) error
	// Restart stops the service and starts it again. It has to stay up as after
	// Start.
	Restart(ctx context.Context, h *host.Host, want Service) error
	// Enable has the service start at boot.
	Enable(ctx context.Context, h *host.Host, want Service) error
	// Disable has the service not start at boot.
	Disable(ctx context.Context, h *host.Host, want Service) error
}

var serviceName = regexp.MustCompile(`^[a-zA-Z0-9._+:~-]+$`)

// SettleTime implements resource.SettleDelay.
func (s Service) SettleTime() time.Duration { return time.Duration(s.Settle) }

// ProviderIgnoresSpec implements resource.SpecIndependentProvider.
func (Service) ProviderIgnoresSpec() {}

// Fresh implements resource.InitialState: what has just been installed does not run.
func (Service) Fresh() ServiceState { return ServiceState{} }

// Validate implements resource.Spec.
func (s Service) Validate() error {
	switch {
	case s.Name == "":
		return wrong("name", "want the name of a service, got an empty string")
	case !serviceName.MatchString(s.Name):
		return wrong("name", "service name contains dangerous characters: %q: want letters, digits and . _ + : ~ -", s.Name)
	case strings.HasPrefix(s.Name, "-"):
		return wrong("name", "want a name that does not begin with a hyphen, as options do, got %q", s.Name)
	}
	return nil
}

// WantedEnsure implements resource.EnsureReporter.
func (s Service) WantedEnsure() string { return string(s.Ensure) }

// Decide implements resource.Spec.
func (s Service) Decide(have ServiceState) (d resource.Decision) {
	if have.Missing {
		return resource.Decision{Err: fmt.Errorf("service not found: %s", s.Name)}
	}
	switch {
	case s.Ensure == ServiceRunning && !have.Running:
		d.Add("ensure", string(ServiceStopped), string(ServiceRunning))
		d.Act("Start", "started")
		if have.Masked {
			d.Err = errMasked("running")
		}
	case s.Ensure == ServiceStopped && have.Running:
		d.Add("ensure", string(ServiceRunning), string(ServiceStopped))
		d.Act("Stop", "stopped")
	case s.Ensure == ServiceStopped && have.Starting:
		// It counts as stopped, and would be running a moment later.
		d.Add("ensure", "starting", string(ServiceStopped))
		d.Act("Stop", "stopped")
	}
	if s.Enable != nil && *s.Enable != have.Enabled {
		d.Add("enable", strconv.FormatBool(have.Enabled), strconv.FormatBool(*s.Enable))
		switch {
		case have.Masked && *s.Enable:
			d.Err = errors.Join(d.Err, errMasked("enabled"))
		case have.Fixed != "":
			d.Err = errors.Join(d.Err, fmt.Errorf("want enable = %t, found the service %s, which cannot be changed: %s", *s.Enable, have.Startup, have.Fixed))
		case *s.Enable:
			d.Act("Enable", "enabled")
		default:
			d.Act("Disable", "disabled")
		}
	}
	if d.Err != nil {
		d.Actions = nil
	}
	return d
}

func errMasked(want string) error {
	return fmt.Errorf("want the service %s, found it masked: it has to be unmasked first", want)
}

// Refresh implements resource.Refresher: a service that runs and is to run is
// restarted. One that is started or stopped is not restarted as well.
func (s Service) Refresh(have ServiceState, d resource.Decision) resource.Decision {
	switch {
	case s.Ensure != ServiceRunning || !have.Running:
	case have.Masked:
		d.Err = errMasked("restarted")
	default:
		d.Actions = slices.Insert(slices.Clone(d.Actions), 0, resource.Action{Verb: "Restart", Phrase: "restarted"})
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
	case "Enable":
		return p.Enable(ctx, h, s)
	case "Disable":
		return p.Disable(ctx, h, s)
	}
	return fmt.Errorf("a service has no verb %s", a.Verb)
}
