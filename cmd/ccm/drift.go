package main

import (
	"context"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/site"
)

// newDriftCommand returns drift.
func newDriftCommand(e *cli.Env) *cobra.Command {
	f := &runFlags{noop: true}
	cmd := &cobra.Command{
		Use:   "drift [FILE [ARG...]]",
		Short: "Say how the machine differs from what was applied last",
		Long: `Compare the machine with what was applied last, by the script FILE or by
whichever ran last, and say what differs. With arguments ARG it is the last run
with just these, without any the last run of FILE, whatever they were. Nothing is changed, and scripts are
not run: what counts is what was in order after the run, not what the script
says now. FILE may be - for what was declared on the command line (ccm ensure)
and on standard input.

What runs in every run, such as an exec without a guard, and what would only be
refreshed is no drift. What cannot be told from what was recorded is reported as
unknown, and is no drift either.

Exit status: 0 the machine is as it was left; 2 it is not; 4 something could not
be looked at, 6 both.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return reportDrift(cmd.Context(), e, f, args)
		},
	}
	f.output = cli.NewChoice("text", "text", "json")
	f.diff = cli.NewChoice(string(report.DiffChanges), report.DiffChanges.Values()...)
	f.addReport(cmd)
	cli.AddSudoFlag(cmd.Flags())
	cmd.Flags().StringVar(&f.Root, "root", "", "compare what was applied to the file system below `DIR` (default: wherever it was)")
	return cmd
}

// reportDrift reports the differences between the machine and the applied state.
func reportDrift(ctx context.Context, e *cli.Env, f *runFlags, args []string) (err error) {
	store, err := e.Store(f.StateDir, state.Limits{})
	if err != nil {
		return err
	}
	applied, err := store.Applied()
	if err != nil {
		return err
	}
	if f.Root != "" {
		root := e.View(f.Root).Root()
		applied = slices.DeleteFunc(applied, func(a state.AppliedHeader) bool { return a.Root != root })
		if len(applied) == 0 {
			return diag.Errorf(diag.Pos{}, "nothing was applied yet below %s", root).WithHint("ccm run --root %s FILE applies a script", shellquote.Join(f.Root))
		}
	}
	a, err := chooseApplied(applied, args)
	if err != nil {
		return err
	}
	f.drift, f.Root = true, a.Root
	rep := newReport(e, f)
	defer f.reportFile.write(e, f.quiet, &err)
	sum, err := e.Drift(ctx, store, a, rep.all(), f.diff.Value != string(report.DiffOff))
	if err != nil {
		return err
	}
	if err := rep.end(sum); err != nil {
		return err
	}
	sum.Counts[event.Unknown] = 0 // is said, and is no drift
	return exitStatus(sum, true)
}

// chooseApplied returns the last applied state of the script on the command line; without a script,
// the latest one of a site, else the latest of all.
func chooseApplied(applied []state.AppliedHeader, args []string) (state.AppliedHeader, error) {
	if len(args) == 0 {
		at := slices.IndexFunc(applied, func(a state.AppliedHeader) bool { return a.Site != "" })
		switch {
		case at >= 0:
			return applied[at], nil
		case len(applied) > 0:
			return applied[0], nil
		}
		return state.AppliedHeader{}, diag.Errorf(diag.Pos{}, "nothing was applied yet").WithHint("ccm run FILE applies a script")
	}
	var known []string
	for _, a := range applied {
		if is, err := site.IsRunOf(a, args[0], args[1:]); is || err != nil {
			return a, err
		}
		if a.Site != "" {
			known = append(known, a.Site)
		}
	}
	failed := diag.Errorf(diag.Pos{}, "%s was not applied yet", shellquote.Join(args...))
	if len(known) > 0 {
		failed.Hint = "applied: " + strings.Join(known, ", ")
	}
	return state.AppliedHeader{}, failed
}
