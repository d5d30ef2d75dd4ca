package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/state"
)

func (e *env) restoreCommand() *cobra.Command {
	f := &runFlags{}
	past := &pastFlags{}
	cmd := &cobra.Command{
		Use:   "restore RUN [PATH...]",
		Short: "Give files back what they were before a run",
		Long: `Give the paths that a run changed back what they were before it: content,
mode, owner, the target of a link, or that nothing was there. Given PATHs, it is
only these and what is below them.

What is there now is kept first. A restore is a run of its own, so it can be
undone like any other.`,
		Args:              wantArguments(1, anyNumber),
		ValidArgsFunction: e.completeRun(past),
		RunE: func(cmd *cobra.Command, args []string) error {
			paths, err := absolute(args[1:])
			if err != nil {
				return err
			}
			store, err := e.store(f.stateDir, f.limits())
			if err != nil {
				return err
			}
			rec, err := e.findRun(store, args[0])
			if err != nil {
				return err
			}
			r := &restoration{env: e, f: f, rec: rec, kind: "restore"}
			return r.run(cmd.Context(), paths)
		},
	}
	f.addRestore(cmd)
	past.stateDir = f.stateDir
	return cmd
}

// addRestore adds the flags of commands that restore files.
func (f *runFlags) addRestore(cmd *cobra.Command) {
	fs := cmd.Flags()
	f.recordFlags.add(fs)
	f.output = newChoice("text", "text", "json")
	f.diff = newChoice(string(report.DiffSummary), report.DiffSummary.Values()...)
	fs.BoolVarP(&f.noop, "noop", "n", false, "only say what would be done")
	fs.BoolVar(&f.noop, "dry-run", false, "the same as --noop")
	fs.Lookup("dry-run").Hidden = true
	fs.BoolVar(&f.detailed, "detailed-exitcodes", false, "exit with 0 if nothing is to do, 2 on changes, 4 on failures, 6 on both")
	fs.DurationVar(&f.lockTimeout, "lock-timeout", 0, "how long to wait for another run to end")
	f.addReport(cmd)
}

// A restoration gives back what was there before a run.
type restoration struct {
	env  *env
	f    *runFlags
	rec  *state.Record
	kind string // of the run that does it
	// refresh returns the resources that subscribe to those whose files are
	// restored, as a catalog of their own; nil if nothing is to be refreshed.
	refresh *refreshing

	host *host.Host
	out  *runReport
	past *record
	// begun are the paths that were changed: these are finished, whatever comes between.
	begun map[string]bool
}

func (r *restoration) run(ctx context.Context, paths []string) error {
	e, f := r.env, r.f
	f.root = r.rec.Root
	r.out = e.newReport(f)
	rec, err := e.record(ctx, f, r.out.id, r.kind, r.rec.Site)
	if err != nil {
		return err
	}
	r.past = rec
	r.host = host.New(host.Options{Runner: e.exec(), Refuse: e.secrets.RefuseArgv, Root: f.root, Clock: e.clock, Log: e.logger(r.out.stderr, f.debug), Effect: e.effect, BeforeChange: e.keep, Leaves: e.leaves})
	var sum converge.Summary
	defer func() { rec.end(sum) }()
	list, err := rec.store.Restorations(r.rec.ID, paths)
	if err != nil {
		return &diag.Error{Err: err}
	}
	within, cancel := r.f.limited(ctx)
	defer cancel()
	sum = r.restore(within, list)
	if r.refresh != nil {
		if err := r.refresh.perform(ctx, r, &sum); err != nil {
			return err
		}
	}
	if err := r.out.end(sum); err != nil {
		return err
	}
	return exitStatus(sum, f.detailed)
}

// restore restores paths, or says what would be restored, and reports it.
func (r *restoration) restore(ctx context.Context, list []state.Restoration) converge.Summary {
	sum := converge.Summary{Start: r.host.Now(), Noop: r.f.noop}
	events := make([]*converge.Event, len(list))
	for i := range list {
		events[i] = r.look(ctx, i, list)
	}
	if !r.f.noop && r.mayGoOn(ctx) == nil {
		r.begun = make(map[string]bool)
		errs := r.past.store.Restore(ctx, r.host, list, func(x state.Restoration) error { return r.begin(ctx, x) })
		for i, err := range errs {
			if err != nil {
				events[i].Outcome, events[i].Err = converge.Failed, err
			}
		}
	}
	if r.mayGoOn(ctx) != nil {
		sum.Interrupted = r.leaveOut(ctx, events)
	}
	rep := r.out.reporters
	if r.past.run != nil {
		rep = converge.Reporters{r.past.run, rep}
	}
	for _, ev := range events {
		sum.Counts[ev.Outcome]++
		rep.Event(ev)
	}
	sum.Took = r.host.Now().Sub(sum.Start)
	return sum
}

// isBelowLink reports whether a link on the way to a path is restored too.
func isBelowLink(path string, list []state.Restoration) bool {
	return slices.ContainsFunc(list, func(x state.Restoration) bool {
		return x.Want.Kind == host.Symlink && strings.HasPrefix(path, strings.TrimSuffix(x.Path, "/")+"/")
	})
}

// look tells of one path of the list what is to be done.
func (r *restoration) look(ctx context.Context, i int, list []state.Restoration) *converge.Event {
	x := list[i]
	ev := &converge.Event{
		Resource: &resource.Resource{ID: resource.ID{Type: "file", Name: x.Path}, Common: resource.NothingCommon}, Index: i, Noop: r.f.noop,
		Provider: "restore", Start: r.host.Now(), Outcome: converge.Changed,
	}
	if err := state.Place(&r.host.View, x); err != nil {
		_, moved := errors.AsType[*state.MovedError](err)
		switch {
		case !moved || !isBelowLink(x.Path, list):
			ev.Outcome, ev.Err = converge.Failed, err
		case r.f.noop:
			ev.Outcome = converge.Pending
		}
		ev.Actions = []resource.Action{{Verb: "Restore", Phrase: phraseOf(x)}}
		return ev
	}
	diff, err := r.past.store.Differs(ctx, &r.host.View, x)
	switch {
	case err != nil:
		ev.Outcome, ev.Err = converge.Failed, err
		return ev
	case len(diff) == 0 && x.Lost == "":
		ev.Outcome = converge.Stable
		return ev
	case r.f.noop && x.Lost != "":
		ev.Outcome, ev.Err = converge.Failed, fmt.Errorf("its content was not kept: %s", x.Lost)
		return ev
	case r.f.noop:
		ev.Outcome = converge.Pending
	}
	ev.Diff, ev.Actions = diff, []resource.Action{{Verb: "Restore", Phrase: phraseOf(x)}}
	if r.f.diff.value != string(report.DiffOff) {
		ev.Text, _ = r.past.store.Text(&r.host.View, x)
	}
	return ev
}

// phraseOf says what it is to restore a path.
func phraseOf(x state.Restoration) string {
	switch x.Want.Kind {
	case host.Missing:
		return "removed what the run had made"
	case host.Directory:
		return "restored the directory"
	case host.Symlink:
		return "restored the symbolic link"
	}
	return "restored the file"
}

// mayGoOn returns why no further path is restored: the first signal, or the time.
func (r *restoration) mayGoOn(ctx context.Context) error {
	if r.env.stopped() {
		return errInterrupted
	}
	return context.Cause(ctx)
}

// leaveOut has the events of paths that were not restored say why, and reports whether a
// signal was the reason. If it was the time, the first of them has failed, unless another
// has.
func (r *restoration) leaveOut(ctx context.Context, events []*converge.Event) (interrupted bool) {
	why := r.mayGoOn(ctx)
	late, isLate := errors.AsType[errRunTimeout](why)
	failed := slices.ContainsFunc(events, func(ev *converge.Event) bool {
		return ev.Outcome == converge.Failed && !errors.Is(ev.Err, why) || r.begun[ev.Resource.ID.Name] && ev.Err != nil
	})
	for _, ev := range events {
		out := ev.Outcome == converge.Changed || errors.Is(ev.Err, why)
		switch {
		case !out || r.begun[ev.Resource.ID.Name]:
		case !isLate:
			interrupted = true
			ev.Outcome, ev.Err, ev.Reason = converge.Skipped, nil, "the run was interrupted"
		case !failed:
			failed = true
			ev.Outcome, ev.Err = converge.Failed, late
		default:
			ev.Outcome, ev.Err, ev.Reason = converge.Skipped, nil, late.Error()
		}
	}
	return interrupted
}

// begin is called before a path is restored: its resource is noted, and what the
// change refreshes. It is an error if nothing more is to be changed.
func (r *restoration) begin(ctx context.Context, x state.Restoration) error {
	if !r.begun[x.Path] {
		if err := r.mayGoOn(ctx); err != nil {
			return err
		}
		r.begun[x.Path] = true
	}
	id, err := resource.ParseID(x.Resource)
	if err != nil {
		id = resource.ID{Type: "file", Name: x.Path}
	}
	r.past.run.SetResource(&resource.Resource{ID: id, Common: resource.NothingCommon})
	if r.refresh == nil {
		return nil
	}
	return r.refresh.owe(r.past.run, id)
}

// errNothingToUndo says that no run has changed anything.
var errNothingToUndo = errors.New("no run has changed a file, so there is nothing to undo")
