package report

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/terminal"
)

func id(name string) resource.ID { return resource.ID{Type: "file", Name: name} }

func event(name string, change func(*converge.Event)) *converge.Event {
	e := &converge.Event{Resource: &resource.Resource{ID: id(name), Pos: diag.Pos{File: "site.lua", Line: 3}, Common: new(resource.Common)}, Provider: "posix"}
	change(e)
	return e
}

func samples() []*converge.Event {
	created := resource.Action{Verb: "Store", Phrase: "created the file"}
	updated := resource.Action{Verb: "Store", Phrase: "updated the file"}
	return []*converge.Event{
		event("/stable", func(e *converge.Event) {}),
		event("/new", func(e *converge.Event) {
			e.Outcome, e.Noop, e.Actions = converge.Pending, true, []resource.Action{created}
			e.Diff = []resource.Delta{{Property: "ensure", Have: "absent", Want: "present"}, {Property: "owner", Want: "root"}, {Property: "mode", Want: "0644"}}
			e.Text = &resource.Text{Path: "/new", WantExists: true, Want: "one\ntwo\n"}
		}),
		event("/changed", func(e *converge.Event) {
			e.Outcome, e.Actions, e.Refreshed, e.RefreshedBy = converge.Changed, []resource.Action{updated}, true, []resource.ID{id("/a"), id("/b")}
			e.Diff = []resource.Delta{{Property: "content", Have: "sha256:01", Want: "sha256:02"}, {Property: "mode", Have: "0600", Want: "0644"}}
			e.Text = &resource.Text{Path: "/changed", HaveExists: true, WantExists: true, Have: "x\n", Want: "y\n"}
		}),
		event("/binary", func(e *converge.Event) {
			e.Outcome, e.Actions = converge.Changed, []resource.Action{updated}
			e.Diff = []resource.Delta{{Property: "content", Have: "sha256:01", Want: "sha256:02"}}
			e.Text = &resource.Text{Path: "/binary", HaveExists: true, WantExists: true, Have: "x\x00", Want: "y\x00z"}
		}),
		event("/gone", func(e *converge.Event) {
			e.Outcome, e.Actions = converge.Changed, []resource.Action{{Verb: "Remove", Phrase: "removed the file"}}
			e.Diff = []resource.Delta{{Property: "ensure", Have: "present", Want: "absent"}}
		}),
		event("/unknown", func(e *converge.Event) { e.Outcome, e.Reason = converge.Unknown, "exec#x is pending" }),
		event("/skipped", func(e *converge.Event) {
			e.Outcome, e.Reason, e.Unmet = converge.Skipped, "file#/bad failed", []resource.ID{id("/bad")}
		}),
		event("/bad", func(e *converge.Event) {
			e.Outcome, e.Err = converge.Failed, errors.New("it broke\nbadly")
			e.Resource.Calls = []diag.Note{{Pos: diag.Pos{File: "site.lua", Line: 9}, Text: "called from here"}}
			e.Health = []converge.Health{{Name: "ping", State: converge.HealthCritical, Output: "no answer", Tries: 3}}
		}),
	}
}

func text(t Text) string {
	var b strings.Builder
	t.W = &b
	for _, e := range samples() {
		t.Event(e)
	}
	return b.String()
}

func TestText(t *testing.T) {
	require.Equal(t, `+ file#/new: Would have created the file
    owner root, mode 0644
! file#/changed: Updated the file, because file#/a and file#/b changed
    content  +1 -1 lines
    mode  0600 → 0644
~ file#/binary: Updated the file
    content  2 bytes sha256:01 → 3 bytes sha256:02
- file#/gone: Removed the file
? file#/unknown: unknown, because exec#x is pending
. file#/skipped: skipped, because file#/bad failed
x file#/bad: failed: it broke
    badly (site.lua:3)
    site.lua:9: called from here
    health check ping: critical no answer
`, text(Text{Diff: DiffSummary}))
	require.Contains(t, text(Text{Diff: DiffFull}), "    mode  0600 → 0644\ndiff --git a/changed b/changed\n--- a/changed\n+++ b/changed\n@@ -1 +1 @@\n-x\n+y\n~ file#/binary")
	require.NotContains(t, text(Text{Diff: DiffOff}), "→")
	require.True(t, strings.HasPrefix(text(Text{Diff: DiffOff, Verbose: true}), "= file#/stable: stable\n"))
	require.True(t, strings.HasPrefix(text(Text{Quiet: true}), "x file#/bad: failed"))
	require.Contains(t, text(Text{Color: true, Diff: DiffFull}), "\x1b[32m+y\x1b[0m\n")
}

func TestSummary(t *testing.T) {
	line := func(s converge.Summary, text Text) string {
		var b strings.Builder
		text.W = &b
		text.Summary(s)
		return b.String()
	}
	all := converge.Summary{Counts: [...]int{3, 2, 0, 0, 1, 1}, Refreshed: 1, Took: 1234567 * time.Microsecond}
	require.Equal(t, "7 resources: 3 stable, 2 changed (1 by refresh), 1 skipped, 1 failed (1.235s)\n", line(all, Text{}))
	require.Equal(t, "7 resources: 3 stable, 2 changed (1 by refresh), 1 skipped, 1 failed (1.235s)\n", line(all, Text{Quiet: true}))
	require.Equal(t, "Nothing to do: 1 resource is as wanted (1.23ms)\n", line(converge.Summary{Counts: [6]int{1}, Took: 1234 * time.Microsecond}, Text{}))
	require.Empty(t, line(converge.Summary{Counts: [6]int{1}}, Text{Quiet: true}))
	require.Equal(t, "2 resources: 1 pending, 1 unknown (0s), nothing was touched\n", line(converge.Summary{Counts: [6]int{0, 0, 1, 1}, Noop: true}, Text{}))
	require.Equal(t, "1 resource: 1 skipped (0s), interrupted\n", line(converge.Summary{Counts: [6]int{0, 0, 0, 0, 1}, Interrupted: true}, Text{}))
}

func TestJSON(t *testing.T) {
	var b strings.Builder
	j := NewJSON(&b, "run1", DiffFull)
	for _, e := range samples() {
		j.Event(e)
	}
	j.Summary(converge.Summary{Counts: [...]int{1, 3, 1, 1, 1, 1}, Took: 5})
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	require.Len(t, lines, 9)
	var e Event
	require.NoError(t, json.Unmarshal([]byte(lines[1]), &e))
	require.Equal(t, "io.choria.ccm.v1.transaction.event", e.Protocol)
	require.Equal(t, "Would have created the file", e.NoopMessage)
	require.Equal(t, "site.lua:3", e.Position)
	require.True(t, e.Changed && e.Noop)
	require.Contains(t, e.Text, "+++ b/new")
	require.JSONEq(t, `{"protocol":"io.choria.ccm.v1.transaction.event","event_id":"run1-000000","timestamp":"0001-01-01T00:00:00Z","type":"file",
		"name":"/bad","provider":"posix","position":"site.lua:3","duration":0,"outcome":"failed","changed":false,"refreshed":false,"failed":true,
		"skipped":false,"noop":false,"health_checks":[{"name":"ping","status":"critical","output":"no answer","tries":3}],"errors":["it broke\nbadly"]}`, lines[7])
	require.JSONEq(t, `{"protocol":"io.choria.ccm.v1.session.summary","run_id":"run1","start_time":"0001-01-01T00:00:00Z","duration":5,"total_resources":8,
		"stable_resources":1,"changed_resources":3,"pending_resources":1,"unknown_resources":1,"skipped_resources":1,"failed_resources":1,
		"refreshed_resources":0,"noop":false,"interrupted":false}`, lines[8])
}

func TestStatusLine(t *testing.T) {
	const erase = "\r\x1b[K"
	var b strings.Builder
	s := &StatusLine{W: &b}
	s.Begin(&resource.Resource{ID: id("/x"), Common: new(resource.Common)}, 0, 2)
	s.show(s.stop, terminal.LineText("[1/2] file#/x"))
	_, err := s.Write([]byte("a log line\n"))
	require.NoError(t, err)
	s.Event(nil)
	require.Equal(t, erase+"[1/2] file#/x"+erase+"a log line\n", b.String())
}

// The line stays one line: what a terminal breaks can not be erased.
func TestStatusLineIsCut(t *testing.T) {
	var b strings.Builder
	s := &StatusLine{W: &b, Columns: func() int { return 20 }}
	s.Begin(&resource.Resource{ID: id("/x"), Common: new(resource.Common)}, 0, 2)
	s.Note("12.0 MiB of 日本語日本語")
	s.show(s.stop, terminal.LineText("[1/2] file#/日本"))
	s.Event(nil)
	require.Equal(t, "\r\x1b[K[1/2] file#/日本...\r\x1b[K", b.String())
}
