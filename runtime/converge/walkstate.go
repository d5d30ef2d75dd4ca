package converge

import (
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// A walkState is what all parts of a walk know of the resources so far.
type walkState struct {
	catalog  *catalog.Catalog
	view     *host.View
	planning bool
	closed   bool // set while no further work may be opened: edits are open, or other work is concluded
	outcomes []event.Outcome
	// mayHaveChanged is set if the resource whose turn it is may have changed the machine or, in a
	// plan, the view.
	mayHaveChanged bool
}

// noop reports whether nothing is done about r: it is set in a plan, and for the resources of a
// manifest or script that is applied with noop.
func (p *walkState) noop(r *resource.Resource) bool {
	return p.planning || r.IsOnlyPlanned()
}
