package resources

import (
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

var (
	_ resource.Describer         = ServiceState{}
	_ resource.Importer[Service] = ServiceState{}
)

// defaultSettle is the default of Service.Settle.
const defaultSettle = host.Duration(time.Second)

// ServiceMetadata is the description of a service. Of a missing service it has only the name.
type ServiceMetadata struct {
	Name     string `json:"name"`
	Provider string `json:"provider,omitempty"`
	Enabled  *bool  `json:"enabled,omitempty"`
	Running  *bool  `json:"running,omitempty"`
	Active   string `json:"active,omitempty"`  // in the words of the service manager
	Startup  string `json:"startup,omitempty"` // likewise
	Masked   bool   `json:"masked,omitempty"`
	Missing  bool   `json:"missing,omitempty"` // there is no such service
}

// Describe implements resource.Describer.
func (s ServiceState) Describe(name, provider string) any {
	m := ServiceMetadata{Name: name, Provider: provider, Missing: s.Missing}
	if s.Missing {
		return m
	}
	m.Enabled, m.Running = &s.Enabled, &s.Running
	m.Active, m.Startup, m.Masked = s.Active, s.Startup, s.Masked
	return m
}

// Import implements resource.Importer. Enable is left out if it cannot be changed.
func (s ServiceState) Import(im resource.Import) (Service, error) {
	p := Service{Name: im.Name, Ensure: ServiceStopped, Scope: SystemService, OnChange: ServiceRestart, Settle: defaultSettle}
	if asked, ok := im.Spec.(*Service); ok {
		p.Service, p.Scope, p.User = asked.Service, asked.Scope, asked.User
	}
	if s.Missing {
		return p, diag.NotFound("service", "", nil)
	}
	if s.Running {
		p.Ensure = ServiceRunning
	}
	if s.Masked && !s.Running {
		p.Mask = new(true)
	}
	if s.CannotEnable == "" && !s.Masked {
		p.Enable = &s.Enabled
	}
	return p, nil
}
