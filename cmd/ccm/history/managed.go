package history

import (
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/words"
)

// A managedSite is the last run of a site, and the resources that the site manages.
type managedSite struct {
	Site      string            `json:"site"`
	Root      string            `json:"root"`
	RunID     string            `json:"run_id"`
	StartTime time.Time         `json:"start_time"`
	Resources []managedResource `json:"resources"`

	run state.HistoryEntry
}

// A managedResource is a resource and its outcome in the latest run that looked at it.
type managedResource struct {
	Type     string `json:"type"`
	Name     string `json:"name"`
	Outcome  string `json:"outcome"`
	Position string `json:"position,omitempty"`
	// Reason is why the resource failed or was skipped.
	Reason string `json:"reason,omitempty"`
}

// ListManaged prints what the site that ran last manages, each with its last outcome. Root limits it to the sites of one
// root, "" to none. Form is text, json or yaml. If no site has run, that is an error.
func ListManaged(e *cli.Env, store *state.Store, root, form string) error {
	list, _, err := store.History()
	if err != nil {
		return err
	}
	var runs []state.HistoryEntry // of the site, the latest first
	for _, run := range slices.Backward(list) {
		if run.Kind != "run" || run.Site == "" || root != "" && run.Root != root {
			continue
		}
		if len(runs) == 0 || run.Site == runs[0].Site && run.Root == runs[0].Root {
			runs = append(runs, run)
		}
	}
	if len(runs) == 0 {
		return diag.At(diag.Pos{}, diag.None("site has run yet")).WithHint("apply a script with ccm run FILE, or show one resource with ccm status TYPE NAME")
	}
	m, err := managedBy(store, runs)
	if err != nil {
		return err
	}
	switch form {
	case "json":
		return e.Print().JSON(m)
	case "yaml":
		return e.Print().YAML(m)
	}
	return m.print(e)
}

// managedBy returns the resources that a site manages. Runs are its runs, the latest first. The outcome of a resource is that
// of the latest run that looked at it. A run records the outcomes other than stable; so what it does not report was stable,
// unless the run was limited to some resources or did not end. Then an earlier run has the outcome.
func managedBy(store *state.Store, runs []state.HistoryEntry) (*managedSite, error) {
	run := runs[0]
	m := &managedSite{Site: run.Site, Root: run.Root, RunID: run.ID, StartTime: run.Start.UTC(), Resources: []managedResource{}, run: run}
	applied, err := store.AppliedResources(run.Site, run.Root)
	if err != nil {
		return nil, err
	}
	reported := make(map[resource.ID]managedResource)
	var order []resource.ID
	unreported := event.Unknown
	for _, run := range runs {
		rec, err := store.Record(run.ID)
		if errors.Is(err, fs.ErrNotExist) {
			rec, err = &state.Record{}, nil // the run did nothing
		}
		if err != nil {
			return nil, err
		}
		for _, text := range rec.Events {
			var ev report.Event
			if json.Unmarshal(text, &ev) != nil {
				continue // a damaged event is reported where records are checked
			}
			id := resource.ID{Type: ev.Type, Name: ev.Name}
			if _, known := reported[id]; !known {
				reported[id] = rowOf(ev)
				order = append(order, id)
			}
		}
		if s := run.Summary; s != nil && !s.Interrupted && s.Total >= len(applied) {
			unreported = event.Stable
			break
		}
	}
	for _, r := range applied {
		row, ok := reported[r.ID]
		if !ok {
			row = managedResource{Type: r.ID.Type, Name: r.ID.Name, Outcome: unreported.String(), Position: r.Pos.String()}
		}
		delete(reported, r.ID)
		m.Resources = append(m.Resources, row)
	}
	for _, id := range order { // those that were never as declared
		if row, ok := reported[id]; ok {
			m.Resources = append(m.Resources, row)
		}
	}
	return m, nil
}

// rowOf returns the resource of an event.
func rowOf(ev report.Event) managedResource {
	row := managedResource{Type: ev.Type, Name: ev.Name, Outcome: ev.Outcome, Position: ev.Position}
	switch {
	case ev.Failed:
		row.Reason = strings.Join(ev.Errors, "; ")
	case !ev.Changed:
		row.Reason = ev.Reason
	}
	return row
}

// print prints the list as a table.
func (m *managedSite) print(e *cli.Env) error {
	out := e.Print().Data()
	terminal.Fprintf(out, "%s, run %s: %s\n", m.Site, cli.ShownTime(m.run.Start), resultOf(m.run))
	if m.Root != "/" {
		terminal.Fprintf(out, "root directory %s\n", m.Root)
	}
	if len(m.Resources) == 0 {
		return nil
	}
	rows := [][]string{{"OUTCOME", "RESOURCE", "DECLARED AT"}}
	for _, r := range m.Resources {
		reason, _, _ := strings.Cut(r.Reason, "\n")
		rows = append(rows, []string{words.Outcome(r.Outcome), r.Type + "#" + r.Name, strings.TrimSpace(r.Position + "  " + reason)})
	}
	e.Print().Table(rows)
	return nil
}
