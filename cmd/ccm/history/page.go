package history

import (
	"fmt"
	"strings"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/jsonreader"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/report/page"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/state"
)

// writeRecordPage prints the page about a run that was recorded.
func writeRecordPage(e *cli.Env, store *state.Store, rec *state.Record) error {
	run := recordedRun(rec, func(document []byte) []byte { return e.Secrets.JSON(document, cli.Protocol()) })
	if err := addDiffs(e, store, rec, run.Events); err != nil {
		return err
	}
	run.Command, run.Error = e.Secrets.Redact(run.Command), e.Secrets.Redact(run.Error)
	return page.Write(secret.Underneath(e.Stdout), run)
}

// recordedRun returns the report of a recorded run, with each event as mask returns it.
func recordedRun(rec *state.Record, mask func(document []byte) []byte) *report.Run {
	run := &report.Run{Command: rec.Command, Version: rec.Version, Recorded: true}
	if rec.Summary != nil {
		run.Summary = *rec.Summary
	} else {
		run.Summary.Interrupted = true
		run.Error = "The run ended without an outcome: it was killed, or the machine went down."
	}
	s := &run.Summary
	s.RunID, s.StartTime, s.Host = rec.ID, rec.Start, rec.Host
	if rec.Root != "/" {
		s.Root = rec.Root
	}
	damaged := rec.Damaged
	for _, text := range rec.Events {
		var ev report.Event
		if err := jsonreader.Unmarshal(mask(text), &ev); err != nil {
			damaged++
			continue
		}
		run.Events = append(run.Events, ev)
	}
	if rec.Summary == nil {
		s.CountAgain(run.Events)
	}
	if damaged > 0 {
		run.Error = strings.TrimSpace(fmt.Sprintf("Skipped %d damaged lines of the record. %s", damaged, run.Error))
	}
	return run
}

// addDiffs adds the diffs of file contents to events, as in ccm diff.
func addDiffs(e *cli.Env, store *state.Store, rec *state.Record, events []report.Event) error {
	differ, err := newDiffer(e, store, rec)
	if err != nil {
		return err
	}
	at := make(map[string]*report.Event, len(events))
	for i := range events {
		at[events[i].Type+"#"+events[i].Name] = &events[i]
	}
	for _, c := range rec.Changes {
		ev := at[c.Resource.InEvent()]
		if ev == nil || c.Undone() {
			continue
		}
		text, note := differ.diff(&c)
		if note != "" {
			text += fmt.Sprintf("[%s: %s]\n", c.Path, note)
		}
		ev.Text += e.Secrets.Redact(text)
	}
	report.LimitTexts(events)
	return nil
}
