package converge

import (
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// A progress is what is known of the resources of a catalog so far. All parts of a walk
// share it.
type progress struct {
	catalog  *catalog.Catalog
	view     *host.View
	planning bool
	outcomes []event.Outcome
	// unsettled is the resources with the outcome Pending or Unknown, in order. Those of
	// onlyPlanned are apart: a run does nothing about them.
	unsettled, onlyPlanned []int
	// looks is what was looked at for the resource whose turn it is, nil where that makes no
	// difference: in a run, and in a plan before anything is pending.
	looks *host.Looks
	// mayHaveChanged is set if the machine, or in a plan what is assumed of it, may have
	// been changed on behalf of the resource whose turn it is.
	mayHaveChanged bool
}

// noop reports whether nothing is to be done about r: in a plan, and for what a
// manifest or script declares that is applied so.
func (p *progress) noop(r *resource.Resource) bool {
	return p.planning || isOnlyPlanned(r)
}

// isPending reports whether x is the number of a pending resource.
func (p *progress) isPending(x any) bool {
	k, ok := x.(int)
	return ok && p.outcomes[k] == event.Pending
}

// newLooks returns an empty record of looks for the present resource. Its commands run once.
func (p *progress) newLooks() *host.Looks {
	looks := new(host.Looks)
	if p.looks != nil {
		looks.Answers = p.looks.Answers
	}
	return looks
}
