package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/state"
)

func (e *env) driftCommand() *cobra.Command {
	f := &runFlags{noop: true}
	cmd := &cobra.Command{
		Use:   "drift [FILE]",
		Short: "Say how the machine differs from what was applied last",
		Long: `Compare the machine with what was applied last, by the script FILE or by
whichever ran last, and say what differs. Nothing is changed, and scripts are
not run: what counts is what was in order after the run, not what the script
says now. FILE may be - for what was declared on the command line (ccm ensure)
and on standard input.

What runs in every run, such as an exec without a guard, and what would only be
refreshed is no drift. What cannot be told from what was recorded is reported as
unknown, and is no drift either.

Exit status: 0 the machine is as it was left; 2 it is not; 4 something could not
be looked at, 6 both.`,
		Args: wantArguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.drift(cmd.Context(), f, args)
		},
	}
	f.output = newChoice("text", "text", "json")
	f.diff = newChoice(string(report.DiffFull), report.DiffFull.Values()...)
	f.addReport(cmd)
	return cmd
}

func (e *env) drift(ctx context.Context, f *runFlags, args []string) error {
	store, err := e.store(f.stateDir, state.Limits{})
	if err != nil {
		return err
	}
	applied, err := store.Applied()
	if err != nil {
		return err
	}
	a, err := choose(applied, args)
	if err != nil {
		return err
	}
	s, err := e.appliedSite(ctx, store, a)
	if err != nil {
		return err
	}
	for i, r := range s.catalog.Resources {
		if resource.ActsAlways(r.Spec) {
			r.Skip = "it runs in every run"
		}
		s.catalog.Deps[i] = nil // each is compared for itself, and nothing is refreshed
	}
	f.drift = true
	rep := e.newReport(f)
	d := &drifted{Reporter: rep.reporters}
	engine := &converge.Engine{
		Registry: s.registry, Facts: s.facts, Reporter: d, Stop: e.stop,
		Texts:  f.diff.value != string(report.DiffOff),
		Cause:  func(*resource.Resource, resource.Told, func() string) converge.Cause { return converge.Corrective },
		Recall: store.Wishes(a),
	}
	if err := e.conceal(engine, store); err != nil {
		return err
	}
	sum := engine.Plan(ctx, &s.host.View, s.catalog)
	sum.Counts[converge.Skipped] -= d.ignored
	for _, u := range s.unrecorded {
		ev := u.event(sum.Total(), e.clock.Now())
		sum.Add(ev)
		d.Event(ev)
	}
	if err := rep.end(sum); err != nil {
		return err
	}
	sum.Counts[converge.Unknown] = 0 // is said, and is no drift
	return exitStatus(sum, true)
}

// drifted passes on what says something about drift.
type drifted struct {
	converge.Reporter
	ignored int
}

// Event implements converge.Reporter.
func (d *drifted) Event(e *converge.Event) {
	if e.Resource.Skip != "" {
		d.ignored++
		return
	}
	d.Reporter.Event(e)
}

// An unrecorded resource is one that cannot be compared with the past.
type unrecorded state.Unrecorded

// event says so.
func (u unrecorded) event(index int, now time.Time) *converge.Event {
	id, _ := resource.ParseID(u.ID)
	return &converge.Event{
		Resource: &resource.Resource{ID: id, Common: resource.NothingCommon}, Index: index, Outcome: converge.Unknown, Noop: true, Reason: u.Because, Start: now,
	}
}

// choose returns what the script named on the command line applied, or what was
// applied last.
func choose(applied []state.Applied, args []string) (state.Applied, error) {
	if len(args) == 0 {
		at := slices.IndexFunc(applied, func(a state.Applied) bool { return a.Site != "" })
		switch {
		case at >= 0:
			return applied[at], nil
		case len(applied) > 0:
			return applied[0], nil
		}
		return state.Applied{}, diag.Errorf(diag.Pos{}, "nothing was applied yet").WithHint("ccm run FILE applies a script")
	}
	name, err := siteName(args[0])
	if err != nil {
		return state.Applied{}, err
	}
	var known []string
	for _, a := range applied {
		if a.Site == name {
			return a, nil
		}
		if a.Site != "" {
			known = append(known, a.Site)
		}
	}
	failed := diag.Errorf(diag.Pos{}, "%s was not applied yet", args[0])
	if len(known) > 0 {
		failed.Hint = "applied: " + strings.Join(known, ", ")
	}
	return state.Applied{}, failed
}

// appliedSite returns what was applied as a site of its own.
func (e *env) appliedSite(ctx context.Context, store *state.Store, a state.Applied) (*site, error) {
	around := &surroundings{clock: e.clock}
	reg, err := registry(around)
	if err != nil {
		return nil, err
	}
	s := &site{registry: reg, host: host.New(host.Options{Runner: e.exec(), Refuse: e.secrets.RefuseArgv, Root: a.Root, Clock: e.clock, Log: e.logger(e.stderr, false)})}
	if s.facts, err = e.gatherFacts(ctx, &s.host.View, &siteFlags{root: a.Root}); err != nil {
		return nil, err
	}
	around.facts = s.facts
	var left []state.Unrecorded
	if s.catalog, left, err = store.Catalog(a, reg); err != nil {
		return nil, err
	}
	for _, u := range left {
		s.unrecorded = append(s.unrecorded, unrecorded(u))
	}
	return s, nil
}
