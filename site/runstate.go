package site

import (
	"fmt"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/state"
)

// A runState is the state directory as one run sees it: the records of earlier runs and, unless it is a plan,
// the record of this run.
type runState struct {
	recorder *Recorder
	store    *state.Store
	site     string // see nameOfRun
	file     string // path of the file; "" if only the name is known
	root     string
	writer   *state.RecordWriter // nil in a plan
	lock     *state.LockHandle   // nil in a plan
}

// attach gives an engine the pending refreshes of earlier runs, and records what it does.
func (r *runState) attach(engine *converge.Engine, c *catalog.Catalog) error {
	engine.Removals = r.removals(c, engine.Removals.WithData)
	if err := conceal(engine, r.recorder.process.Secrets, r.store); err != nil {
		return err
	}
	if r.writer == nil {
		pending, damaged, err := r.store.Pending()
		if err != nil {
			return diag.About("state directory", err)
		}
		if damaged > 0 {
			r.recorder.process.Messages.Warn(fmt.Sprintf("%d damaged lines in the list of pending refreshes", damaged))
		}
		engine.PendingRefreshes = state.PendingRefreshes(pending, r.site, r.root, c)
		engine.Cause = r.store.Cause(r.site, r.file, r.root)
		return nil
	}
	r.writer.AddCatalog(c)
	engine.Journal, engine.PendingRefreshes, engine.Cause = r.writer, r.writer.PendingRefreshes(r.site, c), r.writer.Cause
	// The writer comes first, so that there is a record even if the report cannot be written.
	engine.Reporters = append([]event.Reporter{r.writer}, engine.Reporters...)
	return nil
}

// removals returns the rules of what removals may take along. Declared has what the site declares.
func (r *runState) removals(declared *catalog.Catalog, withData bool) resource.Removals {
	x := r.store.Removals(r.site, r.root, declared)
	x.WithData = withData
	return x
}

// end ends the record and releases the lock. If the record could not be written, the run stays
// valid.
func (r *runState) end(s event.Summary) {
	if r.writer == nil {
		return
	}
	r.recorder.writer = nil
	if err := r.writer.End(s); err != nil {
		r.recorder.process.Messages.Warn("the record of this run is incomplete: " + err.Error())
	}
	r.release()
}

// release releases the lock.
func (r *runState) release() {
	if r.writer == nil {
		return
	}
	r.recorder.writer = nil
	r.recorder.endWork()
	_ = r.lock.Unlock()
}

// conceal makes an engine mask secrets, and properties that held secrets.
func conceal(engine *converge.Engine, secrets *secret.Keeper, store *state.Store) (err error) {
	engine.Secrets = secrets
	if engine.SecretHistory, err = store.SecretHistory(); err != nil {
		return diag.About("state directory", err)
	}
	return nil
}
