package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/resource"
)

func TestCauseAndLeftOver(t *testing.T) {
	line := func(text Text, change func(e *converge.Event)) string {
		var b strings.Builder
		text.W = &b
		text.Event(event("/f", func(e *converge.Event) {
			e.Outcome, e.Actions = converge.Changed, []resource.Action{{Verb: "Store", Phrase: "updated the file"}}
			change(e)
		}))
		return b.String()
	}
	for want, change := range map[string]func(e *converge.Event){
		"~ file#/f: Updated the file\n":              func(e *converge.Event) { e.Cause = converge.New },
		"~ file#/f: Updated the file (intended)\n":   func(e *converge.Event) { e.Cause = converge.Intended },
		"~ file#/f: Updated the file (corrective)\n": func(e *converge.Event) { e.Cause = converge.Corrective },
		"! file#/f: Updated the file, because refresh left over from run r1: file#/x changed\n": func(e *converge.Event) {
			e.Refreshed, e.PendingRefreshes = true, []converge.PendingRefresh{{To: id("/f"), By: id("/x"), Run: "r1"}}
		},
		"! file#/f: Updated the file, because file#/a changed, and refresh left over from run r1: file#/x changed\n": func(e *converge.Event) {
			e.Refreshed, e.RefreshedBy, e.PendingRefreshes = true, []resource.ID{id("/a")}, []converge.PendingRefresh{{By: id("/x"), Run: "r1"}}
		},
	} {
		require.Equal(t, want, line(Text{}, change))
	}
	require.Equal(t, "~ file#/f: Updated the file (new)\n", line(Text{Verbose: true}, func(e *converge.Event) { e.Cause = converge.New }))

	// Of very many causes the first are told, unless all are asked for.
	many := func(e *converge.Event) {
		e.Refreshed = true
		for _, name := range []string{"/a", "/b", "/c", "/d", "/e"} {
			e.RefreshedBy = append(e.RefreshedBy, id(name))
			e.PendingRefreshes = append(e.PendingRefreshes, converge.PendingRefresh{By: id(name), Run: "r1"})
		}
	}
	require.Equal(t, "! file#/f: Updated the file, because file#/a and file#/b and file#/c and 2 more changed"+
		", and refresh left over from run r1: file#/a changed, and refresh left over from run r1: file#/b changed"+
		", and refresh left over from run r1: file#/c changed, and 2 more left over\n", line(Text{}, many))
	require.Contains(t, line(Text{Verbose: true}, many), "file#/c and file#/d and file#/e changed, and refresh left over")
	require.Contains(t, line(Text{Verbose: true}, many), "run r1: file#/e changed\n")

	var b strings.Builder
	j := NewJSON(&b, Origin{RunID: "run2"}, DiffOff)
	j.Event(event("/f", func(e *converge.Event) {
		e.Outcome, e.Cause, e.Reason = converge.Changed, converge.Corrective, "a caveat"
		e.PendingRefreshes = []converge.PendingRefresh{{To: id("/f"), By: id("/x"), Run: "r1"}}
	}))
	var ev Event
	require.NoError(t, json.Unmarshal([]byte(b.String()), &ev))
	require.Equal(t, "corrective", ev.Reason)
	require.Equal(t, "a caveat", ev.Caveat)
	require.Equal(t, []LeftOver{{By: "file#/x", RunID: "r1"}}, ev.LeftOver)
}

func TestDropped(t *testing.T) {
	s := converge.Summary{Counts: [6]int{1}, Dropped: []converge.PendingRefresh{{To: id("/f"), By: id("/x"), Run: "r1"}}}
	var b strings.Builder
	Text{W: &b}.Summary(s)
	require.Equal(t, "Dropped refresh of file#/f left over from run r1 (file#/x changed): it is not declared any more\n"+
		"Nothing to do: 1 resource is as wanted (0s)\n", b.String())
	b.Reset()
	NewJSON(&b, Origin{RunID: "run2"}, DiffOff).Summary(s)
	require.Contains(t, b.String(), `"dropped_refreshes":[{"resource":"file#/f","by":"file#/x","run_id":"r1"}]`)
}
