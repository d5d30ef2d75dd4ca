package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/jsonreader"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/runtime/terminal"
)

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
	terminal.Fprintf(w, "run %s\nccm %s, started %s: %s\n", rec.ID, rec.Command, cli.ShownTime(rec.Start), resultOf(rec.HistoryEntry))
	if rec.Root != "/" {
		terminal.Fprintf(w, "root directory %s\n", rec.Root)
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
	case c.Before.Kind == safepath.Missing:
		mark, what = "+", "created"
	case c.After.Kind == safepath.Missing:
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
	if c.After == nil || c.Before.Kind == safepath.Missing || c.After.Kind == safepath.Missing {
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
