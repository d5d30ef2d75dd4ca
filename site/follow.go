package site

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/state"
)

// MakePlan plans the run, reports to reporters, and returns the plan. It changes nothing.
func (r *Run) MakePlan(ctx context.Context, reporters []event.Reporter) (*SavedPlan, event.Summary, error) {
	return r.makePlan(ctx, reporters, r.explain)
}

// makePlan is MakePlan. Explain takes the errors of functions in scripts.
func (r *Run) makePlan(ctx context.Context, reporters []event.Reporter, explain func(error)) (*SavedPlan, event.Summary, error) {
	if err := r.Begin(ctx); err != nil {
		return nil, event.Summary{}, err
	}
	ctx, cancel := r.limited(ctx)
	defer cancel()
	p, s := r.process, r.Site
	var planned []plannedResource
	engine := *r.engine
	engine.Journal, engine.Texts = nil, true
	engine.Reporters = append([]event.Reporter{event.ReporterFunc(func(ev *event.Event) {
		x := newPlannedResource(ev, p.Secrets)
		x.Declaration = p.Secrets.Digest("plan", declarationText(s.Catalog.Resources[ev.Index]))
		planned = append(planned, x)
	})}, reporters...)
	r.scripts = s.reportTo(ctx, &engine, explain)
	sum := engine.Plan(ctx, &s.Host.View, s.Catalog)
	r.noteTimeout(ctx)
	dir, err := p.Files.Bundle.workingDirectory()
	if err != nil {
		return nil, sum, err
	}
	plan := &SavedPlan{
		Protocol: planProtocol, Format: planFormat, Version: p.Version, Time: p.Clock.Now().UTC(), Directory: dir,
		File: r.file, Args: r.args, Options: r.options.Site, KeyDigest: p.Secrets.Digest("plan", "key"), Inputs: s.inputs.records(),
		Resources: planned,
	}
	if _, err := p.Files.ReadKey(r.options.Record.StateDir); err != nil {
		plan.Key = p.Secrets.Key()
	}
	return plan, sum, nil
}

// Decisions are what a plan has decided about resources. They are a reporter of the plan.
type Decisions struct {
	secrets   *secret.Keeper
	resources []plannedResource
}

// NewDecisions returns Decisions without secrets.
func NewDecisions(secrets *secret.Keeper) *Decisions { return &Decisions{secrets: secrets} }

// Event implements event.Reporter.
func (d *Decisions) Event(ev *event.Event) {
	d.resources = append(d.resources, newPlannedResource(ev, d.secrets))
}

// Approve returns the function of an engine that accepts only the decided actions
// ([converge.Engine.Approve]).
func (d *Decisions) Approve() func(*event.Event) error { return asPlanned(d.resources) }

// newPlannedResource returns the entry of a plan for an event.
func newPlannedResource(ev *event.Event, secrets *secret.Keeper) plannedResource {
	x := plannedResource{ID: plainText(ev.Resource.ID.String()), Outcome: ev.Outcome.String(), Provider: ev.Provider}
	switch {
	case ev.Uncertain: // decided in its turn
		x.Outcome = event.Unknown.String()
	case ev.Outcome == event.Failed:
		x.Reason = plainText(secrets.Redact(ev.Err.Error()))
	case ev.Outcome == event.Pending:
		x.Actions, x.Diff = plainActions(ev.Actions), plainDiff(ev.Diff)
	}
	return x
}

// declarationText returns a text that differs if the declaration differs.
func declarationText(r *resource.Resource) string {
	if text, err := r.Properties().MarshalJSON(); err == nil {
		return string(text)
	}
	return fmt.Sprintf("%x %x", r.Type.Schema().Fingerprint(r.Spec), resource.CommonSchema().Fingerprint(r.Common))
}

// plainText returns a text as it is after a round trip through JSON.
func plainText(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func plainActions(list []resource.Action) []resource.Action {
	out := slices.Clone(list)
	for i, a := range out {
		out[i].Phrase = plainText(a.Phrase)
	}
	return out
}

func plainDiff(list []resource.Delta) []resource.Delta {
	out := slices.Clone(list)
	for i, d := range out {
		out[i] = resource.Delta{Property: plainText(d.Property), Have: plainText(d.Have), Want: plainText(d.Want)}
	}
	return out
}

// Follow makes the run apply a plan. It plans again; the error is a [diag.List] of the
// differences from the plan. In the run, a resource whose actions would differ from the plan
// fails. What the plan did not know is decided in its turn.
func (r *Run) Follow(ctx context.Context, plan *SavedPlan) error {
	now, sum, err := r.makePlan(ctx, nil, func(error) {})
	switch {
	case err != nil:
		return err
	case r.timedOut:
		return RunTimeoutError{r.options.Record.Timeout}
	case sum.Interrupted:
		return ErrInterrupted
	}
	if err := r.compare(plan, now); err != nil {
		return err
	}
	r.engine.Texts = true // as in the plan, so that differences are redacted alike
	r.engine.Approve = asPlanned(plan.Resources)
	return nil
}

// Ask sets a function that is asked before the run acts on a resource
// ([converge.Engine.Approve]).
func (r *Run) Ask(ask func(*event.Event) error) {
	planned := r.engine.Approve
	r.engine.Approve = func(ev *event.Event) error {
		if planned != nil {
			if err := planned(ev); err != nil {
				return err
			}
		}
		return ask(ev)
	}
}

// asPlanned returns an Approve function that accepts only the planned actions.
func asPlanned(resources []plannedResource) func(*event.Event) error {
	planned := make(map[string]*plannedResource, len(resources))
	for i := range resources {
		planned[resources[i].ID] = &resources[i]
	}
	return func(ev *event.Event) error {
		x := planned[plainText(ev.Resource.ID.String())]
		switch x.Outcome {
		case event.Unknown.String():
			return nil
		case event.Failed.String():
			return fmt.Errorf("fails in the plan: %s", x.Reason)
		}
		for _, by := range ev.RefreshedBy { // the plan could not know the refresh
			if b := planned[plainText(by.String())]; b != nil && b.Outcome == event.Unknown.String() {
				return nil
			}
		}
		return x.differs(ev)
	}
}

// differs returns an error if the actions on a resource differ from the plan.
func (x *plannedResource) differs(ev *event.Event) error {
	now := plannedResource{Outcome: ev.Outcome.String(), Actions: plainActions(ev.Actions), Diff: plainDiff(ev.Diff)}
	if x.Outcome == now.Outcome && slices.Equal(x.Actions, now.Actions) && slices.EqualFunc(x.Diff, now.Diff, agree) {
		return nil
	}
	return &notPlannedError{x, &now}
}

// agree reports whether a difference is the planned one. Values unknown to the plan agree with
// any.
func agree(planned, now resource.Delta) bool {
	known := func(a, b string) bool { return a == b || a == resource.KnownAfterRun || b == resource.KnownAfterRun }
	return planned.Property == now.Property && known(planned.Have, now.Have) && known(planned.Want, now.Want)
}

// A notPlannedError says that a resource was planned otherwise.
type notPlannedError struct{ want, have *plannedResource }

// Error tells the planned and the present actions.
func (e *notPlannedError) Error() string {
	planned, now := e.want.String(), e.have.String()
	if planned == now {
		planned, now = e.want.String()+" ("+resource.Decision{Diff: e.want.Diff}.String()+")", e.have.String()+" ("+resource.Decision{Diff: e.have.Diff}.String()+")"
	}
	return "planned: " + planned + ", now: " + now
}

// String tells the planned outcome of the resource.
func (x *plannedResource) String() string {
	if len(x.Actions) == 0 {
		return x.Outcome
	}
	phrases := make([]string, len(x.Actions))
	for i, a := range x.Actions {
		phrases[i] = a.Phrase
	}
	return "would have " + strings.Join(phrases, " and ")
}

// compare returns the differences between an earlier plan and the present one.
func (r *Run) compare(plan, now *SavedPlan) error {
	var list diag.List
	positions := make(map[string]diag.Pos, len(now.Resources))
	for _, res := range r.Site.Catalog.Resources {
		positions[plainText(res.ID.String())] = res.Pos
	}
	add := func(x *plannedResource, err error) {
		list = append(list, &diag.Error{Pos: positions[x.ID], Subject: x.ID, Err: err})
	}
	rest := make(map[string]*plannedResource, len(plan.Resources))
	for i := range plan.Resources {
		rest[plan.Resources[i].ID] = &plan.Resources[i]
	}
	for i := range now.Resources {
		x := &now.Resources[i]
		was, ok := rest[x.ID]
		delete(rest, x.ID)
		switch {
		case !ok:
			add(x, diag.Not("", "in the plan"))
		case was.Declaration != x.Declaration:
			add(x, diag.Mismatch("the declaration", "the plan"))
		case was.Outcome != x.Outcome || was.Provider != x.Provider || !slices.Equal(was.Actions, x.Actions) || !slices.EqualFunc(was.Diff, x.Diff, agree):
			add(x, &notPlannedError{was, x})
		}
	}
	for i := range plan.Resources {
		if x := &plan.Resources[i]; rest[x.ID] != nil {
			add(x, errors.New("is in the plan, but is no longer declared"))
		}
	}
	if len(list) == 0 && !slices.EqualFunc(plan.Resources, now.Resources, func(a, b plannedResource) bool { return a.ID == b.ID }) {
		list.Add(diag.Mismatch("the order of resources", "the plan"))
	}
	if len(list) == 0 {
		return nil
	}
	for _, in := range changedInputs(plan.Inputs, now.Inputs) {
		list.Add(diag.Meanwhile(fmt.Sprintf("%s %s, which the script reads,", in.Kind, in.Name), "changed"))
	}
	list.Add(diag.At(diag.Pos{}, fmt.Errorf("nothing was changed: the plan of %s is no longer valid", plan.Time.Format("2006-01-02 15:04:05 MST"))).WithHint("%s", plan.hint()))
	return list
}

// changedInputs returns the inputs whose values changed.
func changedInputs(before, now []state.Input) (list []state.Input) {
	type name struct{ kind, name string }
	values := make(map[name]string, len(before))
	for _, in := range before {
		values[name{in.Kind, in.Name}] = in.Value
	}
	for _, in := range now {
		if value, ok := values[name{in.Kind, in.Name}]; ok && value != in.Value {
			list = append(list, in)
		}
	}
	return list
}
