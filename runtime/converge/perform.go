package converge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/forecast"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// act performs a decision about a state. With noop it only records the decision in the event.
func (w *walk) act(ctx context.Context, provider resource.Binding, d resource.Decision, state any, ev *event.Event) {
	r := ev.Resource
	c := w.Removals.Check(ctx, w.view, r, d)
	switch {
	case c.Err != nil:
		ev.Outcome, ev.Err, ev.Diff = event.Failed, c.Err, d.Diff
		return
	case c.KeepReason != "":
		ev.Outcome, ev.Reason = event.Skipped, c.KeepReason
		return
	case c.Remark != "":
		ev.Reason = event.JoinRemarks(c.Remark, ev.Reason)
	}
	named := d.Effects
	if c.Partial != nil {
		d, ev.KeepsData = *c.Partial, true
	}
	nameVersion(ev, d, state)
	ev.Diff, ev.Actions, ev.DesiredDigest = d.Diff, d.Actions, desiredDigest(w.declaredResources[ev.Index], ev, resource.DesiredDigestOf(state))
	ev.Cause = w.causeOf(ctx, ev, state)
	w.refreshes.noteCause(ev.Index, ev.Cause)
	if d.Text != nil && (w.Texts || w.redactor.NeedsText(d.Diff)) {
		// Without the text there is no diff; that does not prevent the action.
		if text, err := d.Text(ctx, w.view); err == nil {
			ev.Text = &text
			w.redactor.MarkText(r, text)
		}
	}
	w.mayHaveChanged = !r.IsOnlyPlanned()
	if w.noop(r) {
		if w.forecaster.PlanActions(ctx, w.view, &provider, d, ev) {
			w.joinTransaction(provider, d, ev)
		}
		return
	}
	notes, err := host.Obstacles(w.view, d.Effects...)
	if err != nil {
		ev.Outcome, ev.Err, ev.Actions = event.Failed, err, nil
		return
	}
	ev.Reason = event.JoinRemarks(ev.Reason, strings.Join(notes, ", "))
	if !w.approves(w.redactor, ev) {
		w.mayHaveChanged = false
		if ev.Declined && w.stopped(ctx) { // the run was stopped during the question
			w.interrupted, ev.Reason = true, "the run was interrupted"
		}
		return
	}
	for _, x := range w.Reporters {
		if x, ok := x.(event.ActionReporter); ok {
			x.BeforeAction(r, ev.Index, len(w.catalog.Resources))
		}
	}
	if err := w.recordRemoval(ctx, provider, r, state); err != nil {
		ev.Outcome, ev.Err, ev.Actions = event.Failed, diag.Cannot("record", "what is removed", err), nil
		return
	}
	if err := w.refreshes.add(ev.Index, ev.Cause); err != nil {
		ev.Outcome, ev.Err, ev.Actions = event.Failed, diag.Cannot("record", "pending refreshes", err), nil
		return
	}
	d.Effects = named // of which the host keeps the same: see Removals.Protect
	if w.stage(ctx, provider, d, ev) || w.joinTransaction(provider, d, ev) {
		ev.Outcome = underWay
		return
	}
	w.performAlone(ctx, provider, d, ev)
}

// recordRemoval records how to make a thing again if a resource removes it.
func (w *walk) recordRemoval(ctx context.Context, provider resource.Binding, r *resource.Resource, state any) error {
	want, ok := r.Spec.(resource.EnsureReporter)
	if w.Journal == nil || !ok || !resource.IsAbsent(want.WantedEnsure()) {
		return nil
	}
	how, err := provider.Recreation(ctx, w.view, r.Spec, state)
	if err != nil || len(how) == 0 {
		return err
	}
	return w.Journal.RecordRemoval(r, how)
}

// performAlone performs the actions of one resource and looks at it again. The event gets the
// outcome.
func (w *walk) performAlone(ctx context.Context, provider resource.Binding, d resource.Decision, ev *event.Event) {
	r := ev.Resource
	ctx = withDesired(ctx, w.forecaster, provider)
	var done int
	err := w.noteCompanions(ctx, provider, d, []*event.Event{ev}, func() (err error) {
		done, err = w.perform(ctx, w.Removals.Protect(ctx, hostFor(ctx, ev, w.host), r, d), provider, d, ev)
		return err
	})
	if errors.Is(err, resource.ErrUnchanged) {
		ev.Outcome, ev.Actions, ev.Diff, ev.Refreshed, ev.RefreshedBy, ev.Cause = event.Stable, nil, nil, false, nil, event.NoCause
		w.refreshes.cancel(r.ID)
		return
	}
	if err != nil {
		ev.Outcome, ev.Err, ev.Actions = event.Failed, err, d.Actions[:done]
		w.refreshes.cancelIfUnchanged(ctx, provider, d.Diff, ev)
		return
	}
	ev.Outcome = event.Changed
	if resource.TraitsOf(r.Spec).VerifiesItself {
		return
	}
	if w.grouping.mayDefer(ev.Index) {
		w.deferCheck(ev, provider)
		return
	}
	w.verify(ctx, provider, ev)
}

// withDesired returns a context that names the things that an action of a provider must not remove
// as a side effect.
func withDesired(ctx context.Context, f *forecast.Forecaster, provider resource.Binding) context.Context {
	if !provider.HasBulkPrediction() {
		return ctx
	}
	return resource.WithDesired(ctx, f.Desired(&provider))
}

// perform performs the actions of a decision, and returns how many succeeded.
func (e *Engine) perform(ctx context.Context, h *host.Host, provider resource.Binding, d resource.Decision, ev *event.Event) (int, error) {
	for n, a := range d.Actions {
		err := e.try(ctx, h, ev, func() error { return provider.Perform(ctx, h, ev.Resource.Spec, a) })
		if err != nil {
			return n, host.ExplainNoRoom(&h.View, err, d.Effects...)
		}
	}
	return len(d.Actions), nil
}

// try calls do until it succeeds or the tries of the event's resource are used up. It returns the
// last error and logs the others as warnings.
func (e *Engine) try(ctx context.Context, h *host.Host, ev *event.Event, do func() error) error {
	tries, sleep := ev.Resource.Common.Retries()
	for n := 1; ; n++ {
		err := do()
		if err == nil || errors.Is(err, resource.ErrUnchanged) || n >= tries || e.stopped(ctx) {
			return err
		}
		why, _, _ := strings.Cut(err.Error(), "\n")
		h.Log().Warn(fmt.Sprintf("try %d of %d failed, next try in %s: %s", n, tries, sleep, why))
		select {
		case <-time.After(sleep):
		case <-e.Stop:
			return err
		case <-ctx.Done():
			return err
		}
	}
}

// hostFor returns h for the actions of the event's resource.
func hostFor(ctx context.Context, ev *event.Event, h *host.Host) *host.Host {
	r := ev.Resource
	h = h.OnBehalfOf(r)
	if log := h.Log(); log.Enabled(ctx, slog.LevelInfo) {
		h = h.WithLog(log.With("resource", r.ID.String()))
	}
	if resource.TraitsOf(r.Spec).VerifiesItself {
		h = h.WithRecord(func(res host.Result) { ev.Command = &res })
	}
	return h
}

// withCause puts the cause of an ended context in front of an error.
func withCause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}

// verify looks again at the event's resource, and judges it.
func (w *walk) verify(ctx context.Context, provider resource.Binding, ev *event.Event) {
	state, err := provider.Status(ctx, w.view, ev.Resource.Spec)
	w.judge(ev, state, err)
}

// judge gives the event the final state of its resource, which was acted on, and the outcome. If something still
// differs, the event gets an error.
func (w *walk) judge(ev *event.Event, state any, err error) {
	ev.Outcome = event.Changed
	defer func() {
		if ev.Err != nil {
			ev.Outcome = event.Failed
		}
	}()
	if err != nil {
		ev.Ensure, ev.Err = "", err
		return
	}
	r := ev.Resource
	// The actions may have read a source, so that the state has its digest now.
	if desired := resource.DesiredDigestOf(state); desired != (resource.DesiredDigest{}) {
		ev.DesiredDigest = desiredDigest(w.declaredResources[ev.Index], ev, desired)
	}
	d := r.Type.Decide(r.Spec, state, false)
	switch {
	case ev.KeepsData: // something is left, as it should be
	case d.Err != nil:
		err = fmt.Errorf("%w: %w", resource.ErrDesiredStateFailed, d.Err)
	case len(d.Diff) > 0:
		d.Diff = w.redactor.Deltas(d.Diff, r)
		err = fmt.Errorf("%w: %s", resource.ErrDesiredStateFailed, d)
	case len(d.Actions) > 0:
		err = fmt.Errorf("%w: a second run would have to %s again", resource.ErrDesiredStateFailed, phrases(d.Actions))
	}
	ev.Ensure, ev.Err = ensureOf(state), err
	nameVersion(ev, resource.Decision{Diff: ev.Diff}, state)
	nameNewVersion(ev, state)
}

// nameVersion adds a version to the event of a thing that appears or disappears. The state is the
// one that has the version: before a removal, after a creation.
func nameVersion(ev *event.Event, d resource.Decision, state any) {
	version := versionOf(ev.Resource, state)
	for _, x := range d.Diff {
		if version != "" && x.Property == "ensure" && (resource.IsAbsent(x.Have) && x.Want != version || resource.IsAbsent(x.Want)) {
			ev.Reason = event.JoinRemarks("version "+version, ev.Reason)
		}
	}
}

// nameNewVersion adds the new version to the event of a replaced thing, where the wanted ensure
// does not tell it, such as "latest".
func nameNewVersion(ev *event.Event, state any) {
	version := versionOf(ev.Resource, state)
	for _, x := range ev.Diff {
		if version != "" && x.Property == "ensure" && !resource.IsAbsent(x.Have) && !resource.IsAbsent(x.Want) && !strings.HasPrefix(version, x.Want) {
			ev.Reason = event.JoinRemarks("version "+version, ev.Reason)
		}
	}
}

// versionOf returns the version in a state, "" if the thing is absent or has none.
func versionOf(r *resource.Resource, state any) string {
	if version := ensureOf(state); resource.TraitsOf(r.Spec).EnsureIsVersion && !resource.IsAbsent(version) {
		return version
	}
	return ""
}

func phrases(actions []resource.Action) string {
	list := make([]string, len(actions))
	for i, a := range actions {
		list[i] = a.Phrase
	}
	return strings.Join(list, " and ")
}

func ensureOf(state any) string {
	if s, ok := state.(resource.StateEnsure); ok {
		return s.CurrentEnsure()
	}
	return ""
}
