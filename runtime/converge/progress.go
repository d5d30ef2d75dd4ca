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
	editing  bool // resources are worked on that edit one file, see edits
	outcomes []event.Outcome
	// mayHaveChanged is set if the machine, or in a plan what is assumed of it, may have
	// been changed on behalf of the resource whose turn it is.
	mayHaveChanged bool
}

// noop reports whether nothing is to be done about r: in a plan, and for what a
// manifest or script declares that is applied so.
func (p *progress) noop(r *resource.Resource) bool {
	return p.planning || r.IsOnlyPlanned()
}
