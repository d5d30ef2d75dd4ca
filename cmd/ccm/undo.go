package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/site"
)

// newUndoCommand returns undo.
func newUndoCommand(e *cli.Env) *cobra.Command {
	f := &runFlags{}
	cmd := &cobra.Command{
		Use:   "undo",
		Short: "Undo the last run: restore the files it changed",
		Long: `Undo the last run that changed files: restore them, and refresh resources that
subscribe to them.

  ccm undo --noop
  ccm undo

Packages, services and effects of commands are not reverted. If one of the files
changed after ccm wrote it, nothing is restored; --force overwrites it after backing
it up.

An undo is a run: undoing it reverts the undo. The next run of the script makes the
same changes again unless you change the script.`,
		Args: cli.WantArguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := e.Store(f.StateDir, f.Limits())
			if err != nil {
				return err
			}
			last, err := store.FindLatest(cli.ChangedFiles)
			if err != nil {
				return err
			}
			if last == nil {
				return errNothingToUndo
			}
			rec, err := cli.FindRun(e, store, last.ID, store.Changes)
			if err != nil {
				return err
			}
			if f.output.Value == "text" && !f.quiet {
				newest, err := store.FindLatest(cli.ChangedAnything)
				if err != nil {
					return err
				}
				if newest.ID != last.ID { // as after the removal of a user
					terminal.Fprintf(e.Stdout, "%s\n", keptTitle(e, *newest))
				}
				terminal.Fprintf(e.Stdout, "%s\n", undoTitle(e, *last, f.noop))
				stays, err := store.UnrestoredResources(rec)
				if err != nil {
					return err
				}
				if len(stays) > 0 {
					terminal.Fprintf(e.Stdout, "%s: undo only restores files\n", unchangedText(stays))
				}
			}
			return restoreFiles(cmd.Context(), e, f, &site.RestoreOptions{Kind: "undo", Run: rec, Refresh: true, Force: f.force})
		},
	}
	f.addRestore(cmd)
	f.addForce(cmd)
	return cmd
}

// undoTitle returns the line that says which run is undone.
func undoTitle(e *cli.Env, run state.HistoryEntry, noop bool) terminal.Text {
	what := "Undoing"
	if noop {
		what = "Would undo"
	}
	return terminal.Prose(e.Stdout, terminal.LineText(what+" "), terminal.Sprintf("%s of %s (%s)", run.Command, cli.ShownTime(run.Start), run.ID), nil)
}

// keptTitle returns the line that says which later run is not undone, because it changed no files.
func keptTitle(e *cli.Env, run state.HistoryEntry) terminal.Text {
	return terminal.Prose(e.Stdout, terminal.LineText("Not undone, because it changed no files: "),
		terminal.Sprintf("%s of %s (%s)", run.Command, cli.ShownTime(run.Start), run.ID), nil)
}

// unchangedText names the resources that an undo does not change; of many only the first ones.
func unchangedText(ids []string) string {
	switch n := len(ids); {
	case n == 1:
		return ids[0] + " is not changed"
	case n <= 4:
		return strings.Join(ids[:n-1], ", ") + " and " + ids[n-1] + " are not changed"
	}
	return fmt.Sprintf("%d resources are not changed, %s and others", len(ids), strings.Join(ids[:3], ", "))
}

// errNothingToUndo says that no run has changed anything.
var errNothingToUndo = errors.New("nothing to undo: no run has changed a file (effects of commands, such as installed packages, are not undone)")
