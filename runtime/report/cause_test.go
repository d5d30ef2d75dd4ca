package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
)

func TestCauseAndLeftOver(t *testing.T) {
	line := func(text Text, change func(e *event.Event)) string {
		var b strings.Builder
		text.W = &b
		text.Event(eventOf("/f", func(e *event.Event) {
			e.Outcome, e.Actions = event.Changed, []resource.Action{{Verb: "Store", Phrase: "updated the file"}}
			change(e)
		}))
		return b.String()
	}
	for want, change := range map[string]func(e *event.Event){
		"~ file#/f: Updated the file\n":              func(e *event.Event) { e.Cause = event.New },
		"~ file#/f: Updated the file (intended)\n":   func(e *event.Event) { e.Cause = event.Intended },
		"~ file#/f: Updated the file (corrective)\n": func(e *event.Event) { e.Cause = event.Corrective },
		"! file#/f: Updated the file, because a refresh is pending from run r1: file#/x changed\n": func(e *event.Event) {
			e.Refreshed, e.PendingRefreshes = true, []event.PendingRefresh{{To: id("/f"), By: id("/x"), Run: "r1"}}
		},
		"! file#/f: Updated the file, because file#/a changed, and a refresh is pending from run r1: file#/x changed\n": func(e *event.Event) {
			e.Refreshed, e.RefreshedBy, e.PendingRefreshes = true, []resource.ID{id("/a")}, []event.PendingRefresh{{By: id("/x"), Run: "r1"}}
		},
	} {
		require.Equal(t, want, line(Text{}, change))
	}
	require.Equal(t, "~ file#/f: Updated the file (new)\n", line(Text{Verbose: true}, func(e *event.Event) { e.Cause = event.New }))

	// Of very many causes only the first are shown, unless all are requested.
	many := func(e *event.Event) {
		e.Refreshed = true
		for _, name := range []string{"/a", "/b", "/c", "/d", "/e"} {
			e.RefreshedBy = append(e.RefreshedBy, id(name))
			e.PendingRefreshes = append(e.PendingRefreshes, event.PendingRefresh{By: id(name), Run: "r1"})
		}
	}
	require.Equal(t, "! file#/f: Updated the file, because file#/a and file#/b and file#/c and 2 more changed"+
		", and a refresh is pending from run r1: file#/a changed, and a refresh is pending from run r1: file#/b changed"+
		", and a refresh is pending from run r1: file#/c changed, and 2 more pending\n", line(Text{}, many))
	require.Contains(t, line(Text{Verbose: true}, many), "file#/c and file#/d and file#/e changed, and a refresh is pending from run")
	require.Contains(t, line(Text{Verbose: true}, many), "run r1: file#/e changed\n")

	var b strings.Builder
	j := NewJSON(&b, Origin{RunID: "run2"}, DiffOff)
	j.Event(eventOf("/f", func(e *event.Event) {
		e.Outcome, e.Cause, e.Reason = event.Changed, event.Corrective, "a caveat"
		e.PendingRefreshes = []event.PendingRefresh{{To: id("/f"), By: id("/x"), Run: "r1"}}
	}))
	var ev Event
	require.NoError(t, json.Unmarshal([]byte(b.String()), &ev))
	require.Equal(t, "corrective", ev.Reason)
	require.Equal(t, "a caveat", ev.Caveat)
	require.Equal(t, []PendingRefresh{{By: "file#/x", RunID: "r1"}}, ev.PendingRefresh)
}

func TestDropped(t *testing.T) {
	s := event.Summary{Counts: [6]int{1}, DroppedRefreshes: []event.PendingRefresh{{To: id("/f"), By: id("/x"), Run: "r1"}}}
	var b strings.Builder
	Text{W: &b}.Summary(s)
	require.Equal(t, "Dropped the pending refresh of file#/f from run r1 (file#/x changed): it is no longer declared\n"+
		"Nothing to do: 1 resource up to date (0s)\n", b.String())
	b.Reset()
	NewJSON(&b, Origin{RunID: "run2"}, DiffOff).Summary(s)
	require.Contains(t, b.String(), `"dropped_refreshes":[{"resource":"file#/f","by":"file#/x","run_id":"r1"}]`)
}
