package resource

import (
	"errors"

	"github.com/luaccm/ccm/runtime/registration"
)

// A Registration is an entry of the service registry: where a service is offered.
type Registration struct {
	// Cluster is the group of machines that the service belongs to, such as production.
	Cluster string `ccm:"cluster,required"`
	// Service is what is offered, such as web.
	Service string `ccm:"service,required"`
	// Protocol is how it is spoken to, such as http.
	Protocol string `ccm:"protocol,required"`
	// Address is where: an IP address or the name of a host.
	Address string `ccm:"address,required"`
	// Port is from 1 to 65535. Left out, the entry has none.
	Port *int `ccm:"port"`
	// Priority is from 1 to 255. The lower, the better.
	Priority int `ccm:"priority,default=100"`
	// TTL is how long the entry holds after a run, such as "10m", or "never". Left out, it
	// holds as long as the registry keeps entries.
	TTL *registration.TTL `ccm:"ttl"`
	// Annotations are further texts for clients that find the entry.
	Annotations map[string]string `ccm:"annotations"`
}

// Entry returns the entry.
func (r *Registration) Entry() *registration.Entry {
	e := &registration.Entry{
		Cluster: r.Cluster, Service: r.Service, Protocol: r.Protocol, Address: r.Address,
		Priority: int64(r.Priority), Annotations: r.Annotations, TTL: r.TTL,
	}
	if r.Port != nil {
		e.Port = int64(*r.Port)
	}
	return e
}

// checkRegistrations returns the mistakes in entries that no registry would accept.
func checkRegistrations(list []Registration) error {
	var errs []error
	for i := range list {
		joined, ok := list[i].Entry().Check().(interface{ Unwrap() []error })
		if !ok {
			continue
		}
		for _, err := range joined.Unwrap() {
			errs = append(errs, PropertyErrorf("register_when_stable", "entry %d: %w", i+1, err))
		}
	}
	return errors.Join(errs...)
}
