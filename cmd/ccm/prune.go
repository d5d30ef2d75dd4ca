package main

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/site"
	"github.com/luaccm/ccm/site/recovery"
)

// newPruneCommand returns prune.
func newPruneCommand(e *cli.Env) *cobra.Command {
	f := &runFlags{}
	yes := false
	cmd := &cobra.Command{
		Use:   "prune FILE [ARG...]",
		Short: "Remove resources from earlier runs that are no longer declared",
		Long: `Remove resources from earlier runs of FILE that it no longer declares.

  ccm prune site.lua --noop
  ccm prune site.lua

It removes what runs created: files, packages, users and all other types that have
ensure = "absent". It first shows them, and asks. Resources that existed before ccm,
and effects of commands and services, are kept and listed. Data that no run created is
kept too, with the directories that contain it, unless --with-data is given.

A prune is a run with backups: ccm undo restores files.`,
		Args: cli.NeedFile, ValidArgsFunction: cli.CompleteFile(),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o := f.Part; len(o.Targets)+len(o.Tags)+len(o.SkipTags) > 0 {
				return diag.Errorf(diag.Pos{}, "prune always covers the whole site: it cannot be used with --target, --tags or --skip-tags")
			}
			leave, err := f.enter(cmd.Context(), e, args[0])
			if err != nil {
				return err
			}
			defer leave(&err)
			return pruneSite(cmd.Context(), e, f, args, yes)
		},
	}
	f.SiteFlags.Add(cmd.Flags())
	cli.AddBundleFlags(cmd.Flags(), &f.Bundle)
	for _, name := range []string{"target", "tags", "skip-tags", "with-dependents"} {
		cmd.Flags().Lookup(name).Hidden = true
	}
	f.addRestore(cmd)
	f.AddWithDataFlag(cmd.Flags())
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "remove without asking")
	return cmd
}

// pruneSite removes resources that a site does not declare any more.
func pruneSite(ctx context.Context, e *cli.Env, f *runFlags, args []string, yes bool) (err error) {
	asks := !yes && !f.noop
	if asks {
		var err error
		if f.tty, err = e.OpenTerminal("prune", "remove without asking with --yes, or show what would be removed with --noop"); err != nil {
			return err
		}
	}
	rep := newReport(e, f)
	defer f.reportFile.write(e, f.quiet, &err)
	read := rep.reads(args[0])
	x, err := recovery.OpenPrune(ctx, e.Process, args[0], args[1:], &site.RunOptions{
		ID: rep.id, Site: f.SiteFlags.SiteOptions(), Record: f.RecordFlags.RecordOptions(&f.Options), Host: rep.hostOptions(e, f),
		Plan: f.noop, Texts: f.diff.Value != string(report.DiffOff),
	})
	read()
	if err != nil {
		return err
	}
	defer x.End()
	if f.output.Value == "text" && !f.quiet {
		for _, other := range slices.Sorted(maps.Keys(x.OtherSites)) {
			n := x.OtherSites[other]
			terminal.Fprintf(e.Stdout, "%d %s, because %s still declared %s in its last run\n", n, map[bool]string{true: "resource is kept", false: "resources are kept"}[n == 1], other, map[bool]string{true: "it", false: "them"}[n == 1])
		}
	}
	if x.Empty() && f.output.Value == "text" {
		if !f.quiet {
			terminal.Fprintf(e.Stdout, "Nothing to prune from earlier runs of %s\n", shellquote.Join(args...))
		}
		return nil
	}
	var sum event.Summary
	reporters := rep.all()
	if asks || f.noop {
		if sum, err = x.Plan(ctx, reporters); err != nil {
			return err
		}
	}
	switch {
	case !asks || sum.Interrupted:
	case sum.Of(event.Pending)+sum.Of(event.Unknown) == 0:
		reporters = nil // the plan has reported everything already
	default:
		if err := rep.end(sum); err != nil {
			return err
		}
		if err := e.Confirm(ctx, f.tty); err != nil {
			return err
		}
	}
	if !f.noop && !sum.Interrupted {
		sum, err = x.Run(ctx, reporters)
	}
	if err := errors.Join(err, rep.end(sum)); err != nil {
		return err
	}
	return exitStatus(sum, f.detailed)
}
