package site

import (
	"fmt"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/state"
)

// A RunState is the state directory as one run sees it: the records of earlier runs and, unless it is a plan,
// the record of this run.
type RunState struct {
	recorder *Recorder
	Store    *state.Store
	Site     string // see nameOfRun
	file     string // path of the file; "" if only the name is known
	Root     string
	Writer   *state.RecordWriter // nil in a plan
	lock     *state.LockHandle   // nil in a plan
}

// attach gives an engine the pending refreshes of earlier runs, and records what it does.
func (r *RunState) attach(engine *converge.Engine, c *catalog.Catalog) error {
	engine.Removals = r.Removals(c, engine.Removals.WithData)
	if err := r.Store.Conceal(engine); err != nil {
		return err
	}
	if r.Writer == nil {
		pending, damaged, err := r.Store.Pending()
		if err != nil {
			return diag.About("state directory", err)
		}
		if damaged > 0 {
			r.recorder.process.Messages.Warn(fmt.Sprintf("%d damaged lines in the list of pending refreshes", damaged))
		}
		engine.PendingRefreshes = state.PendingRefreshes(pending, r.Site, r.Root, c)
		engine.Cause = r.Store.Cause(r.Site, r.file, r.Root)
		return nil
	}
	r.Writer.AddCatalog(c)
	engine.Journal, engine.PendingRefreshes, engine.Cause = r.Writer, r.Writer.PendingRefreshes(r.Site, c), r.Writer.Cause
	// The writer comes first, so that there is a record even if the report cannot be written.
	engine.Reporters = append([]event.Reporter{r.Writer}, engine.Reporters...)
	return nil
}

// Removals returns the rules of what removals may take along. Declared has what the site declares.
func (r *RunState) Removals(declared *catalog.Catalog, withData bool) resource.Removals {
	x := r.Store.Removals(r.Site, r.Root, declared)
	x.WithData = withData
	return x
}

// End ends the record and releases the lock. If the record could not be written, the run stays
// valid.
func (r *RunState) End(s event.Summary) {
	if r.Writer == nil {
		return
	}
	r.recorder.writer = nil
	if err := r.Writer.End(s); err != nil {
		r.recorder.process.Messages.Warn("the record of this run is incomplete: " + err.Error())
	}
	r.Release()
}

// Release releases the lock.
func (r *RunState) Release() {
	if r.Writer == nil {
		return
	}
	r.recorder.writer = nil
	r.recorder.endWork()
	_ = r.lock.Unlock()
}
