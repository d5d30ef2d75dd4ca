package fake

import (
	"context"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// services has every service, stopped at first.
type services struct{ m *Machine }

// serviceModel is the model of services.
func serviceModel(m *Machine, real resource.Binding, order int) resource.Binding {
	return resources.ServiceType.Provide(real.Name, resource.Always[resources.Service](order), services{m})
}

// key returns the name of a service in the model; for a user's service it begins with the user.
func key(want resources.Service) string {
	if want.Scope == resources.UserService {
		return want.User + "/" + want.ServiceName()
	}
	return want.ServiceName()
}

// Status implements resources.ServiceProvider.
func (s services) Status(_ context.Context, _ *host.View, want resources.Service) (resources.ServiceState, error) {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	have := s.m.Services[key(want)]
	state := resources.ServiceState{Running: have.Running, Enabled: have.Enabled}
	if have.Masked {
		state.Masked, state.Enabled, state.EnabledUnmasked = true, false, have.Enabled
	}
	return state, nil
}

func (s services) change(want resources.Service, change func(*Service)) error {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	have := s.m.Services[key(want)]
	change(&have)
	s.m.Services[key(want)] = have
	return nil
}

// Start implements resources.ServiceProvider.
func (s services) Start(_ context.Context, _ *host.Host, want resources.Service) error {
	return s.change(want, func(have *Service) { have.Running = true })
}

// Stop implements resources.ServiceProvider.
func (s services) Stop(_ context.Context, _ *host.Host, want resources.Service) error {
	return s.change(want, func(have *Service) { have.Running = false })
}

// Restart implements resources.ServiceProvider.
func (s services) Restart(_ context.Context, _ *host.Host, want resources.Service) error {
	return s.change(want, func(have *Service) { have.Running = true })
}

// Reload implements resources.ServiceProvider. Every service can be reloaded.
func (s services) Reload(context.Context, *host.Host, resources.Service) error { return nil }

// Enable implements resources.ServiceProvider.
func (s services) Enable(_ context.Context, _ *host.Host, want resources.Service) error {
	return s.change(want, func(have *Service) { have.Enabled = true })
}

// Disable implements resources.ServiceProvider.
func (s services) Disable(_ context.Context, _ *host.Host, want resources.Service) error {
	return s.change(want, func(have *Service) { have.Enabled = false })
}

// Mask implements resources.ServiceProvider.
func (s services) Mask(_ context.Context, _ *host.Host, want resources.Service) error {
	return s.change(want, func(have *Service) { have.Masked = true })
}

// Unmask implements resources.ServiceProvider.
func (s services) Unmask(_ context.Context, _ *host.Host, want resources.Service) error {
	return s.change(want, func(have *Service) { have.Masked = false })
}
