// Package history is ccm history and ccm diff: the records of earlier runs.
package history

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/runtime/terminal"
)

// Command returns ccm history.
func Command(e *cli.Env) *cobra.Command {
	f := &cli.HistoryFlags{}
	limit, pending, html := 20, false, false
	cmd := &cobra.Command{
		Use:   "history [RUN|PATH]",
		Short: "List the runs on this machine, show one, or find what changed a path",
		Long: `List the runs on this machine, newest first. Read-only.

  ccm history
  ccm history last
  ccm history /etc/nginx

With RUN, show what that run did. With PATH, which contains a slash, list the runs that
changed it or something below it.

RUN, here and in other commands, may be a unique prefix of a run's name, or last for
the newest. Consecutive runs of one site that changed nothing and had the same result share a
line; --limit 0 lists each.

--pending lists refreshes that are still due, because a run was interrupted or the
refresh failed. The next run performs them.`,
		Args: cli.WantArguments(0, 1), ValidArgsFunction: cli.CompleteRun(e, f),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case html && (len(args) == 0 || strings.Contains(args[0], "/")):
				return fmt.Errorf("--html: %w", diag.Expected("a run"))
			case len(args) > 0 && strings.Contains(args[0], "/"):
				return listChanges(e, f, args[0], limit)
			case len(args) > 0:
				return show(e, f, args[0], html)
			case pending:
				return listPending(e, f)
			}
			return listRuns(e, f, limit)
		},
	}
	f.Add(cmd.Flags())
	cmd.Flags().IntVarP(&limit, "limit", "l", limit, "maximum number of lines (0 lists all runs)")
	cmd.Flags().BoolVar(&pending, "pending", false, "list refreshes that are still due")
	cmd.Flags().BoolVar(&html, "html", false, "with RUN, write an HTML page to standard output")
	cmd.MarkFlagsMutuallyExclusive("html", "output")
	cmd.AddCommand(cli.Former(e, newShowCommand(e), "show", "ccm history RUN"))
	return cmd
}

func listPending(e *cli.Env, f *cli.HistoryFlags) error {
	store, err := e.Store(f.StateDir, state.Limits{})
	if err != nil {
		return err
	}
	list, damaged, err := store.Pending()
	if err != nil {
		return err
	}
	cli.WarnDamaged(e, damaged)
	for _, p := range list {
		if f.JSON() {
			err = e.Print().Line(p)
		} else {
			_, err = terminal.Fprintf(e.Stdout, "%s (%s)\n", p, cli.ShownTime(p.Since))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func listRuns(e *cli.Env, f *cli.HistoryFlags, limit int) error {
	store, err := e.Store(f.StateDir, state.Limits{})
	if err != nil {
		return err
	}
	list, damaged, err := store.History()
	if err != nil {
		return err
	}
	cli.WarnDamaged(e, damaged)
	slices.Reverse(list)
	if f.JSON() {
		if limit > 0 && len(list) > limit {
			list = list[:limit]
		}
		for _, entry := range list {
			if err := e.Print().Line(entry); err != nil {
				return err
			}
		}
		return nil
	}
	if len(list) == 0 {
		terminal.Fprintf(e.Stderr, "No runs recorded.\n")
		return nil
	}
	current := currentRun(f, list)
	rows := [][]string{{"RUN", "STARTED", "WHAT", "PATHS", "RESULT"}}
	for _, x := range historyLines(list, current, limit) {
		if x.earlier > 0 {
			x.result += fmt.Sprintf(" (%d runs)", x.earlier+1)
		}
		rows = append(rows, []string{x.ID, cli.ShownTime(x.Start), x.Command, strconv.Itoa(x.Files), x.result})
	}
	e.Print().Table(rows)
	return nil
}

// A historyLine is a run, and the earlier runs that the line represents.
type historyLine struct {
	state.HistoryEntry
	result  string
	earlier int
}

// changedNothing reports whether a run ended and changed nothing.
func changedNothing(entry state.HistoryEntry) bool {
	return entry.Summary != nil && !cli.ChangedAnything(entry)
}

// historyLines returns at most limit lines for runs, the newest first; with limit 0, a line for each
// run. Runs of the same command with the same end that changed nothing share a line: the many runs of
// an agent would hide the runs with changes.
func historyLines(list []state.HistoryEntry, current string, limit int) (lines []historyLine) {
	newer := make(map[string]int) // the index of the newer run's line, by command
	for _, entry := range list {
		result := resultOf(entry)
		if entry.ID == current {
			result = "in progress"
		}
		at, ok := newer[entry.Command]
		if ok && limit > 0 && changedNothing(entry) && changedNothing(lines[at].HistoryEntry) && lines[at].result == result {
			lines[at].earlier++
			continue
		}
		if limit > 0 && len(lines) == limit {
			break
		}
		newer[entry.Command] = len(lines)
		lines = append(lines, historyLine{HistoryEntry: entry, result: result})
	}
	return lines
}

// currentRun returns the present run, "" if there is none: the last run, if it has no end yet and
// the state directory is locked. The newest run comes first in list.
func currentRun(f *cli.HistoryFlags, list []state.HistoryEntry) string {
	if list[0].Summary != nil {
		return ""
	}
	if c, err := state.Examine(state.Dir(f.StateDir)); err != nil || !c.Locked {
		return "" // a user who may not look at the lock sees a run without an end
	}
	return list[0].ID
}

// resultOf describes the end of a run in few words.
func resultOf(entry state.HistoryEntry) string {
	s := entry.Summary
	if s == nil {
		return "ended without an outcome"
	}
	var parts []string
	for _, p := range []struct {
		n    int
		word string
	}{{s.Changed, "changed"}, {s.Pending, "pending"}, {s.Unknown, "unknown"}, {s.Skipped, "skipped"}, {s.Failed, "failed"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.word))
		}
	}
	if s.Ignored > 0 {
		parts[len(parts)-1] += fmt.Sprintf(" (%d ignored)", s.Ignored)
	}
	if s.Interrupted {
		parts = append(parts, "interrupted")
	}
	if len(parts) == 0 {
		return "nothing to do"
	}
	return strings.Join(parts, ", ")
}

// A pathChange is a change of a path in JSON.
type pathChange struct {
	RunID string    `json:"run_id"`
	Start time.Time `json:"start_time"`
	state.Change
}

// listChanges prints the last changes of a path and of everything below it by runs, the newest first: at most limit, 0 for
// all.
func listChanges(e *cli.Env, f *cli.HistoryFlags, path string, limit int) error {
	paths, err := cli.Absolute([]string{path})
	if err != nil {
		return err
	}
	store, err := e.Store(f.StateDir, state.Limits{})
	if err != nil {
		return err
	}
	list, damaged, err := store.History()
	if err != nil {
		return err
	}
	rows := [][]string{{"RUN", "STARTED", "PATH", "CHANGE", "RESOURCE"}}
	for _, run := range slices.Backward(list) {
		if run.Files == 0 {
			continue
		}
		rec, err := store.Changes(run.ID)
		if errors.Is(err, os.ErrNotExist) {
			continue // its record was removed with its backups
		}
		if err != nil {
			return err
		}
		damaged += rec.Damaged
		v := &host.New(host.Options{Root: rec.Root}).View
		for _, c := range rec.Changes {
			if c.Undone() || !state.Among(string(c.Path), paths) || limit > 0 && len(rows) > limit {
				continue
			}
			_, what := describeChange(v, c)
			rows = append(rows, []string{run.ID, cli.ShownTime(run.Start), string(c.Path), what, string(c.Resource)})
			if f.JSON() {
				if err := e.Print().Line(pathChange{run.ID, run.Start, c}); err != nil {
					return err
				}
			}
		}
	}
	cli.WarnDamaged(e, damaged)
	if len(rows) == 1 {
		return diag.At(diag.Pos{}, diag.None("recorded run has changed %s", paths[0])).WithHint("list the runs with: ccm history")
	}
	if !f.JSON() {
		e.Print().Table(rows)
	}
	return nil
}
