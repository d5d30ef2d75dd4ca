package main

import (
	"context"
	"errors"
	"fmt"
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
	"github.com/luaccm/ccm/site/recovery"
)

// newDriftCommand returns drift.
func newDriftCommand(e *cli.Env) *cobra.Command {
	f := &runFlags{noop: true}
	cmd := &cobra.Command{
		Use:   "drift [FILE [ARG...]]",
		Short: "Show drift: what changed on the machine since the last run",
		Long: `Show drift: what changed on the machine since the last run. Read-only.

  ccm drift
  ccm drift site.lua

It compares the machine with what the last run of FILE applied; without FILE, the
last run of any site; with ARGs, its last run with exactly these arguments.
Scripts are not evaluated: only what the run recorded counts. FILE may be -: what ccm
ensure, or ccm run with a script on standard input, applied.
Diffs show how the next run would repair the drift, as in a plan.

Resources that run every time, such as an exec without a guard, and resources that
would only be refreshed do not count as drift. Resources whose record is not enough
to compare are reported as unknown, and do not count either.

Exit status: 0 no drift; 2 drift; 4 a resource could not be checked; 6 both.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return reportDrift(cmd.Context(), e, f, args)
		},
	}
	f.output = cli.NewChoice("text", "text", "json")
	f.diff = cli.NewChoice(string(report.DiffChanges), report.DiffChanges.Values()...)
	f.addReport(cmd)
	cli.AddSudoFlag(cmd.Flags())
	cmd.Flags().StringVar(&f.Root, "root", "", "check what was applied below `DIR` (default: the last run's root)")
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
		root := e.Host(f.Root).Root()
		applied = slices.DeleteFunc(applied, func(a state.AppliedHeader) bool { return a.Root != root })
		if len(applied) == 0 {
			return diag.At(diag.Pos{}, fmt.Errorf("nothing has been applied below %s yet", root)).WithHint("apply a script with: ccm run --root %s FILE", shellquote.Join(f.Root))
		}
	}
	a, err := chooseApplied(applied, args)
	if err != nil {
		return err
	}
	f.drift, f.Root = true, a.Root
	rep := newReport(e, f)
	defer f.reportFile.write(e, f.quiet, &err)
	sum, err := recovery.Drift(ctx, e.Process, store, a, rep.all(), f.diff.Value != string(report.DiffOff))
	if err != nil {
		return err
	}
	if err := rep.end(sum); err != nil {
		return err
	}
	sum.Counts[event.Unknown] = 0 // is said, and is no drift
	return exitStatus(sum, true)
}

// mostSites is the number of applied sites that a hint names, the latest first.
const mostSites = 5

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
		return state.AppliedHeader{}, diag.At(diag.Pos{}, errors.New("nothing has been applied yet")).WithHint("apply a script with: ccm run FILE")
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
	failed := diag.Errorf(diag.Pos{}, "no run of %s has been recorded yet", shellquote.Join(args...))
	if len(known) > 0 {
		failed.Hint = "applied: " + strings.Join(known[:min(len(known), mostSites)], ", ")
		if more := len(known) - mostSites; more > 0 {
			failed.Hint += fmt.Sprintf(" and %d more", more)
		}
	}
	return state.AppliedHeader{}, failed
}
