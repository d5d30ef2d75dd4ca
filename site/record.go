package site

import (
	"fmt"
	"path/filepath"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/state"
)

// A record is what is remembered of earlier runs and, unless it is a plan, the
// record of this one.
type record struct {
	recorder *Recorder
	store    *state.Store
	site     string
	root     string
	run      *state.Run        // nil in a plan
	lock     *state.LockHandle // nil in a plan
}

// attach has an engine make up for what earlier runs have left over, and record
// what it does.
func (r *record) attach(engine *converge.Engine, c *catalog.Catalog) error {
	if err := r.recorder.process.conceal(engine, r.store); err != nil {
		return err
	}
	if r.run == nil {
		pending, damaged, err := r.store.Pending()
		if err != nil {
			return fmt.Errorf("state directory: %w", err)
		}
		if damaged > 0 {
			r.recorder.process.Messages.Warn(fmt.Sprintf("%d damaged lines in the list of refreshes that are owed", damaged))
		}
		engine.PendingRefreshes = state.PendingRefreshes(pending, r.site, r.root, c)
		engine.Cause = r.store.Cause(r.site, r.root)
		return nil
	}
	r.run.Converges(c)
	engine.Journal, engine.PendingRefreshes, engine.Cause = r.run, r.run.PendingRefreshes(r.site, c), r.run.Cause
	// The record comes first, so that it is there even if the report cannot be
	// written.
	engine.Reporter = converge.Reporters{r.run, engine.Reporter}
	return nil
}

// end ends the record and gives the lock back. That the record could not be
// written does not undo the run.
func (r *record) end(s converge.Summary) {
	if r.run == nil {
		return
	}
	r.recorder.run = nil
	if err := r.run.End(s); err != nil {
		r.recorder.process.Messages.Warn("the record of this run is not complete: " + err.Error())
	}
	r.release()
}

// release gives the lock back.
func (r *record) release() {
	if r.run == nil {
		return
	}
	r.recorder.run = nil
	r.recorder.endWork()
	_ = r.lock.Unlock()
}

// conceal has an engine tell no secrets, nor what has held some.
func (p *Process) conceal(engine *converge.Engine, store *state.Store) (err error) {
	engine.Secrets = p.Secrets
	if engine.SecretHistory, err = store.SecretHistory(); err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	return nil
}

// Name returns the name under which the state directory knows a script or
// manifest: its absolute path, "" for standard input.
func Name(file string) (string, error) {
	if file == "-" {
		return "", nil
	}
	return filepath.Abs(file)
}
