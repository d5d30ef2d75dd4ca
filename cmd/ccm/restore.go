package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/site"
)

// newRestoreCommand returns restore.
func newRestoreCommand(e *cli.Env) *cobra.Command {
	f := &runFlags{}
	past := &cli.HistoryFlags{}
	cmd := &cobra.Command{
		Use:   "restore RUN [PATH...]",
		Short: "Give files back what they were before a run",
		Long: `Give the paths that a run changed back what they were before it: content,
mode, owner, the target of a link, or that nothing was there. Given PATHs, it is
only these and what is below them.

If a command or somebody changed one of these paths after ccm wrote it, nothing is
restored. --force overwrites it.

What is there now is kept first. A restore is a run of its own, so it can be
undone like any other.`,
		Args:              cli.WantArguments(1, cli.AnyNumber),
		ValidArgsFunction: cli.CompleteRun(e, past),
		RunE: func(cmd *cobra.Command, args []string) error {
			paths, err := cli.Absolute(args[1:])
			if err != nil {
				return err
			}
			store, err := e.Store(f.StateDir, f.Limits())
			if err != nil {
				return err
			}
			rec, err := cli.FindRun(e, store, args[0], store.Changes)
			if err != nil {
				return err
			}
			switch {
			case len(rec.Changes) > 0:
			case rec.Files > 0:
				return diag.Errorf(diag.Pos{}, "what run %s changed is not on record any more", rec.ID)
			default:
				return diag.Errorf(diag.Pos{}, "run %s has changed no file, so there is nothing to restore", rec.ID).WithHint("ccm history says which runs have")
			}
			return restoreFiles(cmd.Context(), e, f, &site.RestoreOptions{Kind: "restore", Run: rec, Paths: paths, Force: f.force})
		},
	}
	f.addRestore(cmd)
	f.addForce(cmd)
	past.StateDir = f.StateDir
	return cmd
}

// addRestore adds the flags of commands that restore files.
func (f *runFlags) addRestore(cmd *cobra.Command) {
	fs := cmd.Flags()
	f.RecordFlags.Add(fs)
	f.output = cli.NewChoice("text", "text", "json")
	f.diff = cli.NewChoice(string(report.DiffSummary), report.DiffSummary.Values()...)
	fs.BoolVarP(&f.noop, "noop", "n", false, "only say what would be done")
	fs.BoolVar(&f.noop, "dry-run", false, "the same as --noop")
	fs.Lookup("dry-run").Hidden = true
	fs.BoolVar(&f.detailed, "detailed-exitcodes", false, "exit with 0 if nothing is to do, 2 on changes, 4 on failures, 6 on both")
	fs.DurationVar(&f.LockTimeout, "lock-timeout", 0, "how long to wait for another run to end")
	f.addReport(cmd)
}

// addForce adds the flag of undo and restore.
func (f *runFlags) addForce(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.force, "force", false, "also restore what was changed after ccm wrote it")
}

// restoreFiles restores earlier contents of files as the flags ask, and reports the restored files.
func restoreFiles(ctx context.Context, e *cli.Env, f *runFlags, o *site.RestoreOptions) (err error) {
	f.Root = o.Run.Root
	rep := newReport(e, f)
	defer f.reportFile.write(e, f.quiet, &err)
	o.ID, o.Record, o.Host, o.Reporters = rep.id, f.RecordFlags.RecordOptions(&f.Options), rep.hostOptions(e, f), rep.all()
	o.Plan, o.Texts = f.noop, f.diff.Value != string(report.DiffOff)
	sum, err := e.Restore(ctx, o)
	if err != nil {
		return err
	}
	if err := rep.end(sum); err != nil {
		return err
	}
	return exitStatus(sum, f.detailed)
}
