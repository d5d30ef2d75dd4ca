// Package recovery does what needs the records of earlier runs: [Restore] restores the files that a run changed,
// [OpenPrune] finds what is no longer declared, and [Drift] compares the machine with the last applied catalog.
package recovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/site"
)

// RestoreOptions describe what to restore, and how.
type RestoreOptions struct {
	// ID and Kind are those of the restoring run, in the history and in its report.
	ID, Kind string
	// Run is the run whose changes are undone.
	Run *state.Record
	// Paths bound the restore to these paths and those below them; nil restores all.
	Paths []string
	// Refresh also refreshes the subscribers of resources whose files are restored.
	Refresh bool
	// Recreate also makes removed things again that are not only files, such as users and packages.
	Recreate bool
	Record   site.RecordOptions
	Host     site.HostOptions
	// Force also restores paths that something other than ccm changed since.
	Force bool
	// Plan makes a plan and changes nothing.
	Plan bool
	// Texts adds diffs of texts to events.
	Texts bool
	// Reporters take the events.
	Reporters []event.Reporter
}

// A restore restores paths to their versions before a run.
type restore struct {
	process      *site.Process
	options      *RestoreOptions
	refresh      *refreshPlan // nil without refreshes
	recreation   *recreation  // nil if files are all that the run removed
	host         *host.Host
	state        *site.RunState
	startedPaths map[string]bool // paths that were changed: these are finished in any case
	mounts       func() (host.Mounts, error)
	created      map[string]bool // paths to remove
	refused      bool            // something was changed since, and nothing is restored
}

// Restore restores the paths that a run changed, as a run of its own.
func Restore(ctx context.Context, p *site.Process, o *RestoreOptions) (sum event.Summary, err error) {
	o.Record.Root = o.Run.Root
	r := &restore{process: p, options: o}
	recorder := p.NewRecorder(o.Record)
	if o.Refresh || o.Recreate {
		store, err := p.Store(o.Record.StateDir, o.Record.Limits)
		if err == nil && o.Refresh {
			r.refresh, err = planRefresh(ctx, p, store, o)
		}
		if err == nil && o.Recreate {
			r.recreation, err = planRecreation(ctx, p, store, o.Run)
		}
		if err != nil {
			return sum, err
		}
	}
	if o.Plan {
		r.state, err = recorder.Open(o.Run.Site, "")
	} else {
		r.state, err = recorder.Begin(ctx, state.RunInfo{ID: o.ID, Kind: o.Kind, Site: o.Run.Site})
	}
	if err != nil {
		return sum, err
	}
	restored := false
	defer func() {
		if restored {
			r.state.End(sum)
		} else { // nothing was done, or a panic is under way
			r.state.Release()
		}
	}()
	r.host = recorder.Host(o.Host)
	r.mounts = sync.OnceValues(func() (host.Mounts, error) { return r.host.MountsBelow("/") })
	list, err := r.state.Store.Restorer().Restorations(o.Run.ID, o.Paths)
	if err != nil {
		return sum, &diag.Error{Err: err}
	}
	if r.state.Writer != nil {
		r.state.Writer.KeepContents(list)
	}
	r.created = state.Created(list)
	ctx, cancel := o.Record.Limited(ctx)
	defer cancel()
	o.Run.Changes = nil // the list has them all, and there may be many
	sum, err = r.restoreAll(ctx, list)
	if err != nil {
		return sum, err
	}
	if r.refresh != nil && !r.refused {
		err = r.refresh.perform(ctx, r, &sum)
	}
	restored = !r.refused
	return sum, err
}

// restoreAll makes removed things again and restores paths, or plans that, and reports it.
func (r *restore) restoreAll(ctx context.Context, list []state.Restoration) (event.Summary, error) {
	sum := event.Summary{Start: r.host.Now(), Noop: r.options.Plan}
	results := make([]restoreResult, len(list))
	for i := range list {
		results[i] = r.look(ctx, i, list)
	}
	r.refused = skipIfRefused(results)
	// Files may need the accounts, and the directories of packages and mounts.
	if r.recreation != nil && !r.refused && r.ended(ctx) == nil {
		if err := r.recreation.perform(ctx, r, &sum); err != nil {
			return sum, err
		}
	}
	r.restoreFiles(ctx, list, results, &sum)
	sum.Duration = r.host.Now().Sub(sum.Start)
	return sum, nil
}

// A restoreResult is the result for one path, from which its event is made when it is reported. With an event for each
// path from the beginning, an undo of 100,000 files has a peak of 474 MiB instead of 357.
type restoreResult struct {
	start   time.Time
	outcome event.Outcome
	err     error
	reason  string
	diff    []resource.Delta
	acts    bool // the path is restored, or was to be
}

// event returns the event of a path.
func (r *restore) event(i int, x state.Restoration, result restoreResult) *event.Event {
	ev := &event.Event{
		Resource: &resource.Resource{ID: resource.ID{Type: "file", Name: x.Path}, Common: resource.EmptyCommon}, Index: i, Noop: r.options.Plan,
		Provider: "restore", Start: result.start, Outcome: result.outcome, Err: result.err, Reason: result.reason, Diff: result.diff,
	}
	if result.acts {
		ev.Actions = []resource.Action{{Verb: "Restore", Phrase: phraseOf(x)}}
	}
	if r.options.Texts && len(ev.Diff) > 0 {
		ev.Text = r.text(x)
	}
	return ev
}

// restoreFiles restores the paths of the list, or plans that, and reports it.
func (r *restore) restoreFiles(ctx context.Context, list []state.Restoration, results []restoreResult, sum *event.Summary) {
	if !r.options.Plan && !r.refused && r.ended(ctx) == nil {
		r.startedPaths = make(map[string]bool)
		errs := r.state.Store.Restorer().Restore(ctx, r.host, list, func(x state.Restoration) (*resource.Resource, error) {
			return r.beforePath(ctx, x)
		})
		for i, err := range errs {
			if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
				err = cmp.Or(r.obstacle(list[i]), err)
			}
			if err != nil {
				results[i].fail(err)
			}
		}
	}
	if !r.refused && r.ended(ctx) != nil {
		sum.Interrupted = r.skipRest(ctx, list, results) || sum.Interrupted
	}
	reporters := r.options.Reporters
	if r.state.Writer != nil && !r.refused {
		reporters = append([]event.Reporter{r.state.Writer}, reporters...)
	}
	for i, result := range results {
		ev := r.event(i, list[i], result)
		sum.Add(ev)
		for _, x := range reporters {
			x.Event(ev)
		}
	}
}

// isBelowLink reports whether a link on the way to a path is restored too.
func isBelowLink(path string, list []state.Restoration) bool {
	return slices.ContainsFunc(list, func(x state.Restoration) bool {
		return x.Want.Kind == safepath.Symlink && strings.HasPrefix(path, strings.TrimSuffix(x.Path, "/")+"/")
	})
}

// look returns what is planned for one path of the list.
func (r *restore) look(ctx context.Context, i int, list []state.Restoration) restoreResult {
	x := list[i]
	result := restoreResult{start: r.host.Now(), outcome: event.Changed}
	if err := state.Place(&r.host.View, x); err != nil {
		_, moved := errors.AsType[*state.MovedError](err)
		switch {
		case !moved || !isBelowLink(x.Path, list):
			result.outcome, result.err = event.Failed, err
		case r.options.Plan:
			result.outcome = event.Pending
		}
		result.acts = true
		return result
	}
	diff, err := r.state.Store.Restorer().Differs(ctx, &r.host.View, x)
	switch {
	case err != nil:
		result.outcome, result.err = event.Failed, err
		return result
	case len(diff) == 0 && x.LossReason == "":
		result.outcome = event.Stable
		return result
	case r.options.Plan && x.LossReason != "":
		result.outcome, result.err = event.Failed, fmt.Errorf("its content was not backed up: %s", x.LossReason)
		return result
	}
	if !r.options.Force {
		if err := x.Changed(&r.host.View); err != nil {
			result.outcome, result.err = event.Failed, err
			return result
		}
	}
	if r.options.Plan {
		result.outcome = event.Pending
		if err := cmp.Or(r.mounted(x), x.Kept(&r.host.View, r.created), r.obstacle(x)); err != nil {
			result.fail(err)
			return result
		}
	}
	result.diff, result.acts = slices.Clone(diff), true // the clone has no room for more
	return result
}

// skipIfRefused reports whether a path was changed since by something other than ccm. Then nothing is restored: half of
// what a run did is seldom wanted, and whoever changed the path may need the rest.
func skipIfRefused(results []restoreResult) bool {
	if !slices.ContainsFunc(results, func(x restoreResult) bool {
		_, changed := errors.AsType[*state.ChangedError](x.err)
		return changed
	}) {
		return false
	}
	for i := range results {
		if x := &results[i]; x.outcome == event.Changed || x.outcome == event.Pending {
			x.outcome, x.reason, x.diff, x.acts = event.Skipped, "another path has changed since, so nothing is restored", nil, false
		}
	}
	return true
}

// obstacle returns what keeps a path from being restored, such as a read-only mount, or nil.
func (r *restore) obstacle(x state.Restoration) error {
	_, err := host.Obstacles(&r.host.View, overlay.PathEffect{Path: x.Path, Kind: x.Want.Kind})
	return err
}

// mounted returns an error if a mount prevents the removal of the path.
func (r *restore) mounted(x state.Restoration) error {
	if x.Want.Kind != safepath.Missing {
		return nil
	}
	mounts, err := r.mounts()
	return cmp.Or(err, x.Mounted(mounts))
}

// fail notes that a path could not be restored. A directory with a mounted file system is skipped and does not fail: it
// stays in use. So is one with what others put there.
func (x *restoreResult) fail(err error) {
	x.outcome, x.err = event.Failed, err
	_, mounted := errors.AsType[*state.MountedError](err)
	if _, kept := errors.AsType[*state.KeptError](err); mounted || kept {
		x.outcome, x.err, x.reason, x.diff, x.acts = event.Skipped, nil, err.Error(), nil, false
	}
}

// text returns the present content of a path and the one to restore or, afterwards, the former
// and the restored content; nil if unknown.
func (r *restore) text(x state.Restoration) (t *resource.TextChange) {
	if r.state.Writer != nil {
		if before, changed := r.state.Writer.Before(x.Path); changed {
			t, _ = r.state.Store.Restorer().TextSince(before, x)
			return t
		}
	}
	t, _ = r.state.Store.Restorer().Text(&r.host.View, x)
	return t
}

// phraseOf returns the phrase of the action that restores a path.
func phraseOf(x state.Restoration) string {
	switch x.Want.Kind {
	case safepath.Missing:
		return "removed what the run created"
	case safepath.Directory:
		return "restored the directory"
	case safepath.Symlink:
		return "restored the symbolic link"
	}
	return "restored the file"
}

// ended returns the reason why no further path is restored: a signal or the time limit.
func (r *restore) ended(ctx context.Context) error {
	if r.process.Stop.IsSet() {
		return site.ErrInterrupted
	}
	return context.Cause(ctx)
}

// skipRest notes for the remaining paths why they were not restored, and reports
// whether a signal was the reason. If it was the time limit and no path failed, the first of them
// has failed.
func (r *restore) skipRest(ctx context.Context, list []state.Restoration, results []restoreResult) (interrupted bool) {
	why := r.ended(ctx)
	late, isLate := errors.AsType[site.RunTimeoutError](why)
	failed := false
	for i, x := range results {
		failed = failed || x.outcome == event.Failed && !errors.Is(x.err, why) || r.startedPaths[list[i].Path] && x.err != nil
	}
	for i := range results {
		x := &results[i]
		out := x.outcome == event.Changed || errors.Is(x.err, why)
		switch {
		case !out || r.startedPaths[list[i].Path]:
		case !isLate:
			interrupted = true
			x.outcome, x.err, x.reason = event.Skipped, nil, "the run was interrupted"
		case !failed:
			failed = true
			x.outcome, x.err = event.Failed, late
		default:
			x.outcome, x.err, x.reason = event.Skipped, nil, late.Error()
		}
	}
	return interrupted
}

// beforePath is called before a path is restored: it notes the path's resource and records the
// refreshes. It returns the resource. An error stops further changes.
func (r *restore) beforePath(ctx context.Context, x state.Restoration) (*resource.Resource, error) {
	if !r.startedPaths[x.Path] {
		if err := r.ended(ctx); err != nil {
			return nil, err
		}
		r.startedPaths[x.Path] = true
	}
	id, err := resource.ParseID(string(x.Resource))
	if err != nil {
		id = resource.ID{Type: "file", Name: x.Path}
	}
	by := &resource.Resource{ID: id, Common: resource.EmptyCommon}
	r.state.Writer.SetResource(by)
	if r.refresh == nil {
		return by, nil
	}
	if err := r.refresh.record(r.state.Writer, id); err != nil {
		return nil, err
	}
	for _, other := range x.Also {
		if id, err := resource.ParseID(string(other)); err == nil {
			if err := r.refresh.record(r.state.Writer, id); err != nil {
				return nil, err
			}
		}
	}
	return by, nil
}
