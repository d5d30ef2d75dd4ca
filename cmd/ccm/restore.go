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
		Short: "Restore files to their state before a run",
		Long: `Restore files to their state before a run: content, mode, owner, link target, or
absence.

  ccm restore last /etc/nginx

With PATHs, only these and everything below them are restored. If one of these files
changed after ccm wrote it, nothing is restored; --force overwrites it.

The present state is backed up first. A restore is a run, so ccm undo reverts it.`,
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
				return diag.Errorf(diag.Pos{}, "the changes of run %s are no longer on record", rec.ID)
			default:
				return diag.Errorf(diag.Pos{}, "nothing to restore: run %s did not change any files", rec.ID).WithHint("list runs with: ccm history")
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
	fs.BoolVarP(&f.noop, "noop", "n", false, "show what would change, without changing anything")
	fs.BoolVar(&f.noop, "dry-run", false, "same as --noop")
	fs.Lookup("dry-run").Hidden = true
	fs.BoolVar(&f.detailed, "detailed-exitcodes", false, "exit 0 if nothing changed, 2 on changes, 4 on failures, 6 on both")
	fs.DurationVar(&f.LockTimeout, "lock-timeout", 0, "maximum time to wait for another run")
	f.addReport(cmd)
}

// addForce adds the flag of undo and restore.
func (f *runFlags) addForce(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.force, "force", false, "also restore files that changed after ccm wrote them")
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
