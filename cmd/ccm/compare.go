package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/site"
)

// listPlan prints a plan as Markdown, or how it differs from that of another version of the site.
func listPlan(ctx context.Context, e *cli.Env, f *runFlags, args []string) (err error) {
	list, sum, err := f.list(ctx, e, args, "")
	if err != nil {
		return err
	}
	if f.compare == "" {
		list.Markdown("ccm plan "+args[0], sum)
		return exitStatus(sum, f.detailed)
	}
	dir, err := os.MkdirTemp("", "ccm-compare-")
	if err != nil {
		return fmt.Errorf("--compare: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file, err := cli.OtherVersion(ctx, args[0], f.compare, dir)
	if err != nil {
		return fmt.Errorf("--compare: %w", err)
	}
	earlier, _, err := f.list(ctx, e, append([]string{file}, args[1:]...), dir+"/")
	if err != nil {
		return err
	}
	differences := list.Compare(earlier)
	if f.output.Value == outputMarkdown {
		differences.Markdown("ccm plan "+args[0], f.compare)
	} else {
		differences.Print(f.compare)
	}
	code, _ := exitStatus(sum, false).(cli.Status)
	if f.detailed && differences.Differs() {
		code |= cli.ExitChanges
	}
	return code.Err()
}

// list plans a site. Remove is left out of the descriptions.
func (f *runFlags) list(ctx context.Context, e *cli.Env, args []string, remove string) (*report.Listing, event.Summary, error) {
	list := &report.Listing{Layout: f.layout(), Remove: remove, Text: report.Text{W: e.Stdout, Verbose: f.verbose, Diff: report.DiffMode(f.diff.Value), DiffLines: int(f.diffLines)}}
	run, err := e.ReadRun(ctx, args[0], args[1:], &site.RunOptions{
		ID: state.NewRunID(f.StateDir, e.Clock), Site: f.SiteFlags.SiteOptions(), Record: f.RecordFlags.RecordOptions(&f.Options),
		Host: site.HostOptions{Log: cli.NewLogger(e, e.Stderr, f.debug)},
		Plan: true, Texts: f.diff.Value != string(report.DiffOff), Reporters: []event.Reporter{list},
	})
	if err != nil {
		return nil, event.Summary{}, err
	}
	defer run.End()
	sum, err := run.Plan(ctx)
	return list, sum, err
}
