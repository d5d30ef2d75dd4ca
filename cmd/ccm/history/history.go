// Package history is ccm history and ccm diff: the records of earlier runs.
package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/jsonreader"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/secret"
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

Other commands accept a unique prefix of a run's name, and last for the newest.
Consecutive runs of one site that changed nothing and ended alike share a line;
--limit 0 lists each.

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
			x.result += fmt.Sprintf(" (and %d before it)", x.earlier)
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

// newShowCommand returns the former command history show, which without RUN shows the last run that changed something.
func newShowCommand(e *cli.Env) *cobra.Command {
	f, html := &cli.HistoryFlags{}, false
	cmd := &cobra.Command{
		Use:  "show [RUN]",
		Args: cli.WantArguments(0, 1), ValidArgsFunction: cli.CompleteRun(e, f),
		RunE: func(_ *cobra.Command, args []string) error {
			store, err := e.Store(f.StateDir, state.Limits{})
			if err != nil {
				return err
			}
			name, err := nameOrLatest(store, args, cli.ChangedAnything, "no run has changed anything")
			if err != nil {
				return err
			}
			return show(e, f, name, html)
		},
	}
	f.Add(cmd.Flags())
	cmd.Flags().BoolVar(&html, "html", false, "write an HTML page to standard output")
	cmd.MarkFlagsMutuallyExclusive("html", "output")
	return cmd
}

// show prints what the run with a name did: as text, as JSON, or as a page of HTML.
func show(e *cli.Env, f *cli.HistoryFlags, name string, html bool) error {
	store, err := e.Store(f.StateDir, state.Limits{})
	if err != nil {
		return err
	}
	rec, err := cli.FindRun(e, store, name, store.Record)
	if err != nil {
		return err
	}
	switch {
	case html:
		return writeRecordPage(e, store, rec)
	case f.JSON():
		return printRecord(e, rec)
	}
	return showRun(e, rec)
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
		return diag.Errorf(diag.Pos{}, "no recorded run has changed %s", paths[0]).WithHint("list the runs with: ccm history")
	}
	if !f.JSON() {
		e.Print().Table(rows)
	}
	return nil
}

// nameOrLatest returns the first argument or, without one, the name of the latest run for which chosen is true. If there is
// none, the error is missing.
func nameOrLatest(store *state.Store, args []string, chosen func(state.HistoryEntry) bool, missing string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	run, err := store.FindLatest(chosen)
	if err != nil {
		return "", err
	}
	if run == nil {
		return "", diag.Errorf(diag.Pos{}, "%s", missing).WithHint("list the runs with: ccm history")
	}
	return run.ID, nil
}

// printRecord prints a record as one line of JSON, in pieces because a record may be long.
func printRecord(e *cli.Env, rec *state.Record) error {
	out := secret.Underneath(e.Stdout)
	var line bytes.Buffer
	var errs []error
	add := func(before string, v any) {
		var text bytes.Buffer
		enc := json.NewEncoder(&text)
		enc.SetEscapeHTML(false)
		err := enc.Encode(v)
		errs = append(errs, err)
		line.WriteString(before)
		line.Write(e.Secrets.JSON(bytes.TrimRight(text.Bytes(), "\n"), cli.Protocol()))
		if line.Len() > 64<<10 {
			_, err = line.WriteTo(out)
			errs = append(errs, err)
		}
	}
	add("", rec.HistoryEntry)
	line.Truncate(line.Len() - len("}"))
	before := `,"changes":[`
	for _, c := range rec.Changes {
		add(before, c)
		before = ","
	}
	if len(rec.Changes) > 0 {
		line.WriteByte(']')
	}
	before = `,"events":[`
	for _, ev := range rec.Events {
		add(before, ev)
		before = ","
	}
	if len(rec.Events) > 0 {
		line.WriteByte(']')
	}
	if rec.Damaged > 0 {
		add(`,"damaged":`, rec.Damaged)
	}
	line.WriteString("}\n")
	_, err := line.WriteTo(out)
	return errors.Join(append(errs, err)...)
}

func showRun(e *cli.Env, rec *state.Record) error {
	w := e.Stdout
	terminal.Fprintf(w, "run %s\n%s, started %s: %s\n", rec.ID, rec.Command, cli.ShownTime(rec.Start), resultOf(rec.HistoryEntry))
	if rec.Root != "/" {
		terminal.Fprintf(w, "root %s\n", rec.Root)
	}
	for _, in := range rec.Inputs {
		terminal.Fprintf(w, "checked %s %s  %s\n", in.Kind, in.Name, in.Value)
	}
	for _, text := range rec.Events {
		var ev report.Event
		if err := jsonreader.Unmarshal(text, &ev); err != nil {
			continue // a damaged event is reported where records are checked
		}
		terminal.Fprintf(w, "\n%s#%s: %s\n", ev.Type, ev.Name, storyOf(ev))
		for _, d := range ev.Diff {
			terminal.Fprintf(w, "    %s  %s → %s\n", d.Property, orNone(d.Have), orNone(d.Want))
		}
	}
	v := &host.New(host.Options{Root: rec.Root}).View
	heading := "\npaths:\n"
	for _, c := range rec.Changes {
		if c.Undone() {
			continue
		}
		terminal.Fprintf(w, "%s", terminal.LinesText(heading))
		heading = ""
		showChange(w, v, c)
	}
	return nil
}

// storyOf describes the outcome of a resource in one line.
func storyOf(ev report.Event) terminal.Text {
	const further = "    "
	switch {
	case ev.Failed && ev.Ignored:
		return terminal.Sprintf("failed (ignored): %s", terminal.IndentedText(strings.Join(ev.Errors, "; "), further))
	case ev.Failed:
		return terminal.Sprintf("failed: %s", terminal.IndentedText(strings.Join(ev.Errors, "; "), further))
	case !ev.Changed:
		return terminal.Sprintf("%s, because %s", ev.Outcome, terminal.IndentedText(ev.Reason, further))
	case ev.Reason != "":
		return terminal.Sprintf("%s (%s)", ev.Message, ev.Reason)
	}
	return terminal.LineText(ev.Message)
}

func orNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}

// showChange describes the change of a path in one line.
func showChange(w io.Writer, v *host.View, c state.Change) {
	mark, what := describeChange(v, c)
	terminal.Fprintf(w, "    %s %s (%s)\n", mark, c.Path, what)
}

// describeChange returns the mark and a description of the change of a path.
func describeChange(v *host.View, c state.Change) (mark, what string) {
	mark, what = "~", strings.Join(attributeChanges(v, c), ", ")
	switch {
	case c.After == nil:
		mark, what = "?", "outcome unknown"
	case c.Before.Kind == host.Missing:
		mark, what = "+", "created"
	case c.After.Kind == host.Missing:
		mark, what = "-", "removed"
	case what == "":
		what = "replaced"
	}
	if c.Before.Unkept != "" {
		what += ", no backup: " + c.Before.Unkept
	}
	return mark, what
}

// attributeChanges describes the changes of a path other than its content.
func attributeChanges(v *host.View, c state.Change) (list []string) {
	if c.After == nil || c.Before.Kind == host.Missing || c.After.Kind == host.Missing {
		return nil
	}
	a, b := c.Before, *c.After
	add := func(property, have, want string) {
		if have != want {
			list = append(list, fmt.Sprintf("%s %s → %s", property, orNone(have), orNone(want)))
		}
	}
	add("mode", a.Mode.String(), b.Mode.String())
	add("owner", v.UserName(a.UID), v.UserName(b.UID))
	add("group", v.GroupName(a.GID), v.GroupName(b.GID))
	add("target", string(a.Target), string(b.Target))
	return list
}
