package site

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/luaccm/ccm/fleet/registry"
	"github.com/luaccm/ccm/luaapi/std"
	"github.com/luaccm/ccm/runtime/registration"
	"github.com/luaccm/ccm/site/remote"
)

// RegistryOptions describe where services are registered and looked up.
type RegistryOptions struct {
	// Stream is the stream of the registry, "" for registration.DefaultStream.
	Stream string
	// Mode is how a run publishes services. "" publishes nothing and reports that;
	// RegisterNothing does not report it.
	Mode registry.Mode
}

// RegisterNothing is the mode for runs that shall register no service.
const RegisterNothing registry.Mode = "none"

// RegisterVariable is the environment variable with the mode, used without a flag.
const RegisterVariable = "CCM_REGISTER"

// Services returns the registry of services. Plain allows connections without TLS, which is
// not for data on which a site depends.
func (o *DataOptions) Services(from *remote.Client, plain bool) *registry.Registry {
	stream := o.Registry.Stream
	if stream == "" {
		stream = registration.DefaultStream
	}
	return &registry.Registry{Client: from.NATS(o.Context, plain), Stream: stream}
}

// findServices finds services for expressions, templates and scripts. In a run, each query has
// one answer.
func (l *siteLoader) findServices(cluster, protocol, service, address string) (registration.Entries, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := registration.Query{Cluster: cluster, Protocol: protocol, Service: service, Address: address}
	if list, ok := l.services[q]; ok {
		return slices.Clone(list), nil
	}
	ctx, cancel := l.process.Stop.Context(l.process.Files.ctx)
	defer cancel()
	var refused []string
	list, err := l.options.Data.Services(l.process.Remote(), false).Find(ctx, q, func(err error) { refused = append(refused, err.Error()) })
	if err != nil {
		return nil, l.process.Stop.Interruption(ctx, remote.ExplainNATS(err))
	}
	if len(refused) > 0 {
		l.process.Messages.Warn(fmt.Sprintf("skipped %d entries of the registry; the first: %s", len(refused), refused[0]))
	}
	if l.services == nil {
		l.services = make(map[registration.Query]registration.Entries)
	}
	l.services[q] = list
	text, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	name := strings.Join([]string{q.Cluster, q.Protocol, q.Service, q.Address}, " ")
	l.site.inputs.add(std.Input{Kind: "registrations", Name: name, Value: hex.EncodeToString(sum[:]), Text: string(text)})
	return slices.Clone(list), nil
}

// templateRegistrations is registrations for templates, which need an any.
func (l *siteLoader) templateRegistrations(cluster, protocol, service, address string) (any, error) {
	return l.findServices(cluster, protocol, service, address)
}

// newRegistrar returns the registrar for the site's services, nil if there are none.
func (r *Run) newRegistrar(ctx context.Context) *registrar {
	if r.options.Plan {
		return nil
	}
	for _, x := range r.Site.Catalog.Resources {
		if len(x.Common.RegisterWhenStable) > 0 {
			data := &r.options.Site.Data
			return &registrar{
				ctx: ctx, registry: data.Services(r.process.Remote(), true), mode: data.Registry.Mode,
				secrets: r.process.Secrets, monitorOnly: r.options.MonitorOnly, stop: r.stop.signal,
			}
		}
	}
	return nil
}
