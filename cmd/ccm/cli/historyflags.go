package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/luaccm/ccm/runtime/state"
)

// HistoryFlags are the flags of commands that look at earlier runs.
type HistoryFlags struct {
	StateDir string
	output   *Choice
}

// Add adds the flags to fs.
func (f *HistoryFlags) Add(fs *pflag.FlagSet) {
	f.output = NewChoice("text", "text", "json")
	fs.StringVar(&f.StateDir, "state-dir", "", "state `DIR` (default CCM_STATE_DIR, /var/lib/ccm, ~/.local/state/ccm)")
	fs.Var(f.output, "output", "output format: text or json (one object per line)")
}

// JSON reports whether the output is to be JSON.
func (f *HistoryFlags) JSON() bool { return f.output.Value == "json" }

// WarnDamaged warns of damaged lines in the state directory, if there are any.
func WarnDamaged(e *Env, lines int) {
	if lines > 0 {
		e.Messages.Warn(fmt.Sprintf("skipped %d damaged lines in the state directory", lines))
	}
}

// ShownTime formats a time for people.
func ShownTime(t time.Time) string { return t.Local().Format(time.DateTime) }

// CompleteRun offers the names of runs.
func CompleteRun(e *Env, f *HistoryFlags) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault // paths
		}
		store, err := e.Store(f.StateDir, state.Limits{})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		list, _, err := store.History()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		names := []string{"last"}
		for _, entry := range slices.Backward(list) {
			names = append(names, entry.ID+"\t"+ShownTime(entry.Start)+" "+entry.Command)
		}
		return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// FindRun returns the record of the run with a name. The record of a run that did nothing is empty.
// Read is the method of the store that reads a record.
func FindRun(e *Env, store *state.Store, name string, read func(id string) (*state.Record, error)) (*state.Record, error) {
	entry, err := store.Find(name)
	if err != nil {
		return nil, err
	}
	rec, err := read(entry.ID)
	if errors.Is(err, os.ErrNotExist) {
		return &state.Record{HistoryEntry: entry}, nil
	}
	if err == nil {
		WarnDamaged(e, rec.Damaged)
	}
	return rec, err
}

// ChangedFiles reports whether a run has changed files.
func ChangedFiles(run state.HistoryEntry) bool { return run.Files > 0 }

// IsUndoable reports whether undo can revert something of a run: changes of files, or removals.
func IsUndoable(run state.HistoryEntry) bool { return run.Files > 0 || run.Removals > 0 }

// ChangedAnything reports whether a run has changed something: files, or resources of which nothing is in files, such as
// a command.
func ChangedAnything(run state.HistoryEntry) bool {
	return run.Files > 0 || run.Summary != nil && run.Summary.Changed > 0
}

// Absolute returns paths as absolute paths; relative paths begin at the working directory.
func Absolute(paths []string) ([]string, error) {
	out := make([]string, len(paths))
	for i, p := range paths {
		abs, err := filepath.Abs(p)
		if err != nil {
			return nil, err
		}
		out[i] = abs
	}
	return out, nil
}
