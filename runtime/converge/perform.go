package converge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// act performs a decision about a state, or in a plan records it.
func (w *walk) act(ctx context.Context, f resource.Binding, d resource.Decision, state any, ev *Event) {
	r := ev.Resource
	ev.Diff, ev.Actions, ev.DesiredDigest = d.Diff, d.Actions, w.desiredDigest(ev, resource.DesiredDigestOf(state))
	ev.Cause = w.causeOf(ctx, ev, state)
	w.recordCause(ev.Index, ev.Cause)
	if w.Texts && d.Text != nil {
		// Without the text there is no diff, which is no reason not to act.
		if text, err := d.Text(ctx, w.view); err == nil {
			ev.Text = &text
		}
	}
	w.mayHaveChanged = !w.noop(r) || w.planning()
	if w.noop(r) {
		v, looks := w.record()
		w.looks = looks
		caveat, err := w.foresee(ctx, v, ev.Index, &f)
		if err == nil {
			err = v.Permits(d.Effects...)
		}
		if err != nil {
			ev.Actions, ev.Diff, ev.Text = nil, nil, nil
			w.recordForecastFailure(ctx, &f, d, ev, err)
			return
		}
		if w.looks != nil && !w.looks.IsEmpty() {
			if suspects := w.suspects(ev.Index, w.looks); len(suspects) > 0 {
				ev.Actions, ev.Diff, ev.Text = nil, nil, nil
				w.blame(ctx, &f, ev, suspects)
				w.forecast(ctx, ev, d, false)
				return
			}
		}
		if ev.Outcome = Pending; ev.Reason == "" {
			ev.Reason = caveat
		}
		if w.planning() {
			w.view.AssumeBy(ev.Index, w.conditional[ev.Index], d.Effects...)
			if !d.Complete {
				w.addIncompleteEffect(ev.Index)
				w.assumeUnknown(ev.Index, d)
			}
		}
		return
	}
	w.Reporter.Begin(r, ev.Index, len(w.catalog.Resources))
	if err := w.addRefreshes(ev.Index, ev.Cause); err != nil {
		ev.Outcome, ev.Err, ev.Actions = Failed, fmt.Errorf("cannot record what this would refresh: %w", err), nil
		return
	}
	if w.stage(ctx, f, d, ev) {
		ev.Outcome = Changed
		return
	}
	done, err := w.perform(ctx, w.hostFor(ctx, ev, w.host), f, d, ev)
	if err != nil {
		ev.Outcome, ev.Err, ev.Actions = Failed, err, d.Actions[:done]
		w.cancelRefreshes(ctx, f, d, ev)
		return
	}
	ev.Outcome = Changed
	if resource.VerifiesItself(r.Spec) {
		return
	}
	if w.mayDefer(ev.Index) {
		w.deferred = append(w.deferred, deferredCheck{event: ev, f: f})
		return
	}
	if w.verify(ctx, f, ev); ev.Err != nil {
		ev.Outcome = Failed
	}
}

// perform performs the actions of a decision, and returns how many succeeded.
func (w *walk) perform(ctx context.Context, h *host.Host, f resource.Binding, d resource.Decision, ev *Event) (int, error) {
	for n, a := range d.Actions {
		if err := f.Perform(ctx, h, ev.Resource.Spec, a); err != nil {
			return n, err
		}
	}
	return len(d.Actions), nil
}

// hostFor returns h for the actions of the event's resource.
func (w *walk) hostFor(ctx context.Context, ev *Event, h *host.Host) *host.Host {
	r := ev.Resource
	h = h.OnBehalfOf(r)
	if log := h.Log(); log.Enabled(ctx, slog.LevelInfo) {
		h = h.WithLog(log.With("resource", r.ID.String()))
	}
	if w.Outputs && resource.VerifiesItself(r.Spec) {
		h = h.WithRecord(func(res host.Result) { ev.Ran = &res })
	}
	return h
}

// withCause puts the cause of an ended context before an error.
func withCause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}

// verify looks again at the event's resource. Nothing may be left to do.
func (w *walk) verify(ctx context.Context, f resource.Binding, ev *Event) {
	state, err := f.Status(ctx, w.view, ev.Resource.Spec)
	w.judge(ev, state, err)
}

// judge gives the event the final state of its resource, and an error if it differs still.
func (w *walk) judge(ev *Event, state any, err error) {
	if err != nil {
		ev.Ensure, ev.Err = "", err
		return
	}
	r := ev.Resource
	// The actions may have read a source, so that there is a digest of it now.
	if wish := resource.DesiredDigestOf(state); wish != (resource.DesiredDigest{}) {
		ev.DesiredDigest = w.desiredDigest(ev, wish)
	}
	d := r.Type.Decide(r.Spec, state, false)
	switch {
	case d.Err != nil:
		err = fmt.Errorf("%w: %w", resource.ErrDesiredStateFailed, d.Err)
	case len(d.Diff) > 0:
		if w.redactor != nil {
			d.Diff = w.redactor.deltas(d.Diff, w.redactor.properties(r), r.Type)
		}
		err = fmt.Errorf("%w: %s", resource.ErrDesiredStateFailed, d)
	case len(d.Actions) > 0:
		err = fmt.Errorf("%w: it would have to be %s again", resource.ErrDesiredStateFailed, phrases(d.Actions))
	}
	ev.Ensure, ev.Err = ensureOf(state), err
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
