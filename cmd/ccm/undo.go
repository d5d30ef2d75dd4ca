package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/site/recovery"
)

// newUndoCommand returns undo.
func newUndoCommand(e *cli.Env) *cobra.Command {
	f, past := &runFlags{}, &cli.HistoryFlags{}
	cmd := &cobra.Command{
		Use:   "undo [RUN [PATH...]]",
		Short: "Undo a run: restore the files it changed",
		Long: `Undo the last run that changed files, or RUN: restore the files that it changed or
removed, remove those that it created, and refresh resources that subscribe to them.

  ccm undo --noop
  ccm undo
  ccm undo 20261129 /etc/nginx

RUN is a name in the list of ccm history, or its unique beginning. "ccm undo last" is
for the newest run, even if it only removed a package or a user.

Users, groups, packages, mounts, units and others that the run removed are recreated. If
the version of a package is no longer available, another one is installed. Packages that
the run installed, and other effects of commands, remain.

With PATHs, only these and everything below them are restored.

What later runs wrote to the restored files is lost. If anything but ccm changed one of
these files, none is restored; --force restores all, and backs up the changed ones.

An undo is a run: undoing it reverts the undo. The next run of the script makes the
same changes again unless you change the script.`,
		Args:              cli.WantArguments(0, cli.AnyNumber),
		ValidArgsFunction: cli.CompleteRun(e, past),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := e.Store(f.StateDir, f.Limits())
			if err != nil {
				return err
			}
			rec, paths, err := runToUndo(e, store, args)
			if err != nil {
				return err
			}
			if f.output.Value == "text" && !f.quiet {
				if len(args) == 0 {
					newest, err := store.FindLatest(cli.ChangedAnything)
					if err != nil {
						return err
					}
					if newest.ID != rec.ID { // as after the removal of a user
						terminal.Fprintf(e.Stdout, "%s\n", keptTitle(e, *newest))
					}
				}
				terminal.Fprintf(e.Stdout, "%s\n", undoTitle(e, rec.HistoryEntry, f.noop))
				var stays []string
				if len(paths) == 0 {
					stays, err = store.UnrestoredResources(rec)
				}
				if err != nil {
					return err
				}
				if len(stays) > 0 {
					terminal.Fprintf(e.Stdout, "%s: undo restores files, and creates again what the run removed\n", unchangedText(stays))
				}
			}
			return restoreFiles(cmd.Context(), e, f, &recovery.RestoreOptions{Kind: "undo", Run: rec, Paths: paths, Refresh: true, Recreate: len(paths) == 0, Force: f.force})
		},
	}
	f.addRestore(cmd)
	cmd.Flags().BoolVar(&f.force, "force", false, "also restore files that changed after ccm wrote them")
	past.StateDir = f.StateDir
	return cmd
}

// runToUndo returns the run that the arguments of undo name, by default the last one that changed a file, and the paths to
// restore, nil for all.
func runToUndo(e *cli.Env, store *state.Store, args []string) (rec *state.Record, paths []string, err error) {
	if len(args) == 0 {
		last, err := store.FindLatest(cli.IsUndoable)
		if err != nil {
			return nil, nil, err
		}
		if last == nil {
			return nil, nil, errNothingToUndo
		}
		args = []string{last.ID}
	}
	if paths, err = cli.Absolute(args[1:]); err != nil {
		return nil, nil, err
	}
	rec, err = cli.FindRun(e, store, args[0], store.Changes)
	switch {
	case err != nil || len(rec.Changes) > 0 || rec.Removals > 0 && len(paths) == 0:
		return rec, paths, err
	case rec.Files > 0:
		return nil, nil, diag.At(diag.Pos{}, diag.Gone(fmt.Sprintf("the record of the changes of run %s", rec.ID)))
	}
	return nil, nil, diag.At(diag.Pos{}, fmt.Errorf("nothing to undo: run %s did not change any files", rec.ID)).WithHint("list runs with: ccm history")
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
	cli.DurationVar(fs, &f.LockTimeout, "lock-timeout", 0, "maximum time to wait for another run")
	f.addReport(cmd)
}

// restoreFiles restores earlier contents of files as the flags ask, and reports the restored files.
func restoreFiles(ctx context.Context, e *cli.Env, f *runFlags, o *recovery.RestoreOptions) (err error) {
	f.Root = o.Run.Root
	rep := newReport(e, f)
	defer f.reportFile.write(e, f.quiet, &err)
	o.ID, o.Record, o.Host, o.Reporters = rep.id, f.RecordFlags.RecordOptions(&f.Options), rep.hostOptions(e, f), rep.all()
	o.Plan, o.Texts = f.noop, f.diff.Value != string(report.DiffOff)
	sum, err := recovery.Restore(ctx, e.Process, o)
	if err != nil {
		return err
	}
	if err := rep.end(sum); err != nil {
		return err
	}
	return exitStatus(sum, f.detailed)
}

// undoTitle returns the line that says which run is undone.
func undoTitle(e *cli.Env, run state.HistoryEntry, noop bool) terminal.Text {
	what := "Undoing"
	if noop {
		what = "Would undo"
	}
	return terminal.Prose(e.Stdout, terminal.LineText(what+" "), terminal.Sprintf("ccm %s of %s (%s)", run.Command, cli.ShownTime(run.Start), run.ID), nil)
}

// keptTitle returns the line that says which later run is not undone, because it changed no files.
func keptTitle(e *cli.Env, run state.HistoryEntry) terminal.Text {
	return terminal.Prose(e.Stdout, terminal.LineText("Passed over, because it changed no files: "),
		terminal.Sprintf("ccm %s of %s (%s)", run.Command, cli.ShownTime(run.Start), run.ID), nil)
}

// unchangedText names the resources that an undo does not change; of many only the first ones.
func unchangedText(ids []string) string {
	switch n := len(ids); {
	case n == 1:
		return ids[0] + " stays as it is"
	case n <= 4:
		return strings.Join(ids[:n-1], ", ") + " and " + ids[n-1] + " stay as they are"
	}
	return fmt.Sprintf("%d resources stay as they are, %s and others", len(ids), strings.Join(ids[:3], ", "))
}

// errNothingToUndo says that no run has changed anything.
var errNothingToUndo = errors.New("nothing to undo: no run has changed a file (effects of commands, such as installed packages, are not undone)")
