package node

import (
	"context"
	"time"

	"github.com/luaccm/ccm/fleet/agent"
)

// Sources implements agent.Fleet.
func (n *Node) Sources() []agent.Source { return []agent.Source{source{n}} }

// A source is the site of the present release.
type source struct{ n *Node }

// Name implements agent.Source.
func (s source) Name() string { return s.n.releases.bundles.Name() }

// Take implements agent.Source.
func (s source) Take() (site agent.Site, release func(), ok bool) {
	if taken, _ := s.n.member.memory.taken(); taken == 0 {
		return agent.Site{}, nil, false // the bundle may be installed before its release counts
	}
	site, release, ok = s.n.releases.bundles.Take()
	if ok && s.n.planOnly() {
		site.Arguments = append(site.Arguments, "--noop")
	}
	return site, release, ok
}

// Poll implements agent.Source. Bundles are installed at their time; the agent only learns of it.
func (s source) Poll(context.Context) (changed bool, err error) {
	select {
	case <-s.n.releases.updates:
		return true, nil
	default:
		return false, nil
	}
}

// Changed implements agent.Notifier.
func (s source) Changed() <-chan struct{} { return s.n.releases.agentWake }

// PollInterval implements agent.Patience.
func (s source) PollInterval() time.Duration { return time.Hour }
