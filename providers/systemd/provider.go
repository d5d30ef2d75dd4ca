package systemd

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/resource"
)

// provider provides the services of the system and of users.
type provider struct {
	system *services

	mu    sync.Mutex
	users map[uint32]*services
}

var (
	_ resources.ServiceProvider                                        = (*provider)(nil)
	_ resource.BulkProvider[resources.Service, resources.ServiceState] = (*provider)(nil)
	_ resource.Predictor[resources.Service]                            = (*provider)(nil)
	_ resource.Lister                                                  = (*provider)(nil)
)

// Describe implements resource.SelfDescriber.
func (*provider) Describe() resource.Description {
	return resource.Description{
		Doc:      "Queries systemd over the system bus, or with systemctl if the bus is not available. Makes changes with systemctl, and shows why a service failed with journalctl.",
		Commands: []string{"systemctl", "journalctl"},
	}
}

// Bulk implements resource.BulkProvider.
func (p *provider) Bulk() resource.Bulk[resources.Service, resources.ServiceState] {
	return resource.Bulk[resources.Service, resources.ServiceState]{Status: p.StatusAll}
}

// Names implements resource.Lister: the services of the system.
func (p *provider) Names(ctx context.Context, v *host.View, prefix string) ([]string, error) {
	return p.system.Names(ctx, v, prefix)
}

// Predict implements resource.Predictor: only root may change services of the system, and a user
// only his own. It warns of a port that something else uses.
func (p *provider) Predict(_ context.Context, v *host.View, want resources.Service) (string, error) {
	if want.Scope != resources.UserService {
		return portWarning(v, want), overlay.NeedsRoot("only root can change services of the system")
	}
	if self, _ := host.Self(); want.User != "" {
		if uid, err := v.UserID(want.User); err != nil || uid != self {
			return "", errors.Join(err, overlay.NeedsRoot("only root can change services of another user"))
		}
	}
	return "", nil
}

// Status implements resources.ServiceProvider.
func (p *provider) Status(ctx context.Context, v *host.View, want resources.Service) (resources.ServiceState, error) {
	states, errs := p.StatusAll(ctx, v, []resources.Service{want})
	return states[0], errs[0]
}

// StatusAll reports the states of services: each service manager is asked once for all.
func (p *provider) StatusAll(ctx context.Context, v *host.View, wants []resources.Service) ([]resources.ServiceState, []error) {
	states, errs := make([]resources.ServiceState, len(wants)), make([]error, len(wants))
	of := make([]*services, len(wants))
	var scopes []*services
	for i, want := range wants {
		if of[i], errs[i] = p.services(ctx, v, want); errs[i] == nil && !slices.Contains(scopes, of[i]) {
			scopes = append(scopes, of[i])
		}
	}
	for _, s := range scopes {
		var at []int
		var some []resources.Service
		for i, want := range wants {
			if of[i] == s {
				at, some = append(at, i), append(some, want)
			}
		}
		found, failed := s.StatusAll(ctx, v, some)
		for k, i := range at {
			states[i], errs[i] = found[k], failed[k]
		}
	}
	return states, errs
}

// do calls a verb of the services in the scope of want.
func (p *provider) do(ctx context.Context, h *host.Host, want resources.Service, verb func(*services, context.Context, *host.Host, resources.Service) error) error {
	s, err := p.services(ctx, &h.View, want)
	if err != nil {
		return err
	}
	return verb(s, ctx, h, want)
}

// Start implements resources.ServiceProvider.
func (p *provider) Start(ctx context.Context, h *host.Host, want resources.Service) error {
	return p.do(ctx, h, want, (*services).Start)
}

// Stop implements resources.ServiceProvider.
func (p *provider) Stop(ctx context.Context, h *host.Host, want resources.Service) error {
	return p.do(ctx, h, want, (*services).Stop)
}

// Restart implements resources.ServiceProvider.
func (p *provider) Restart(ctx context.Context, h *host.Host, want resources.Service) error {
	return p.do(ctx, h, want, (*services).Restart)
}

// Reload implements resources.ServiceProvider.
func (p *provider) Reload(ctx context.Context, h *host.Host, want resources.Service) error {
	return p.do(ctx, h, want, (*services).Reload)
}

// Enable implements resources.ServiceProvider.
func (p *provider) Enable(ctx context.Context, h *host.Host, want resources.Service) error {
	return p.do(ctx, h, want, (*services).Enable)
}

// Disable implements resources.ServiceProvider.
func (p *provider) Disable(ctx context.Context, h *host.Host, want resources.Service) error {
	return p.do(ctx, h, want, (*services).Disable)
}

// Mask implements resources.ServiceProvider.
func (p *provider) Mask(ctx context.Context, h *host.Host, want resources.Service) error {
	return p.do(ctx, h, want, (*services).Mask)
}

// Unmask implements resources.ServiceProvider.
func (p *provider) Unmask(ctx context.Context, h *host.Host, want resources.Service) error {
	return p.do(ctx, h, want, (*services).Unmask)
}
