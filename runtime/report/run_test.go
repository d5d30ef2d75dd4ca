package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
)

// Events name what their resource comes after, at most a thousand.
func TestEventsHaveTheOrder(t *testing.T) {
	c := &catalog.Catalog{}
	for i := range 1203 {
		c.Resources = append(c.Resources, &resource.Resource{ID: id(fmt.Sprint("/", i)), Common: &resource.Common{}})
		c.Deps = append(c.Deps, nil)
	}
	c.Deps[2] = []catalog.Dep{{Index: 0, Refresh: true}, {Index: 1}}
	for i := range 1200 {
		c.Deps[1202] = append(c.Deps[1202], catalog.Dep{Index: i})
	}
	event := func(i int) Event {
		return EventWithoutText(&event.Event{Resource: c.Resources[i], Deps: c.Deps[i], Catalog: c}, "run1")
	}
	e := event(2)
	require.Equal(t, []string{"file#/1"}, e.Requires)
	require.Equal(t, []string{"file#/0"}, e.Subscribes)
	e = event(1202)
	require.Len(t, e.Requires, 1000)
	require.Equal(t, 200, e.OrderMore)
	require.Empty(t, event(0).Requires)
}

// A collector keeps events in the order of the catalog, without secrets, also those that became
// known after an event, and leaves out texts when there are many.
func TestCollector(t *testing.T) {
	c := &Collector{
		Diff: DiffFull, Origin: Origin{RunID: "run1", Host: "web1", Root: "/"}, HasSecrets: func() bool { return true },
		Mask: func(document []byte) []byte { return bytes.ReplaceAll(document, []byte("s3cret"), []byte("***")) },
		Run:  Run{Command: "ccm run site.lua"},
	}
	long := strings.Repeat("line of text\n", 20_000)
	for i := range 200 {
		i = 199 - i
		c.Event(&event.Event{
			Resource: &resource.Resource{ID: id(fmt.Sprint("/", i)), Common: &resource.Common{}}, Index: i, Outcome: event.Changed,
			Diff: []resource.Delta{{Property: "content", Have: "s3cret", Want: "b"}},
			Text: &resource.TextChange{Path: "/x", Want: long},
		})
	}
	run, err := c.End(event.Summary{Counts: [6]int{0, 200}})
	require.NoError(t, err)
	require.Equal(t, "web1", run.Summary.Host)
	require.Empty(t, run.Summary.Root)
	require.Len(t, run.Events, 200)
	size := 0
	for i, e := range run.Events {
		require.Equal(t, fmt.Sprint("/", i), e.Name)
		require.Equal(t, "***", e.Diff[0].Have)
		size += len(e.Text)
	}
	require.Contains(t, run.Events[199].Text, "more lines]\n")
	require.Equal(t, "[omitted: this report is long]\n", run.Events[0].Text)
	require.Less(t, size, 7<<20)
	run, err = c.End(event.Summary{})
	require.NoError(t, err)
	require.Empty(t, run.Events, "they belong to the run before")
}

// A limited collector keeps all failures, and as many stable resources and as many others.
func TestCollectorLimit(t *testing.T) {
	c := &Collector{Most: 3, HasSecrets: func() bool { return false }}
	for i := range 60 {
		c.Event(&event.Event{
			Resource: &resource.Resource{ID: id(fmt.Sprint("/", i)), Common: &resource.Common{}}, Index: i,
			Outcome: []event.Outcome{event.Stable, event.Changed, event.Failed}[i%3],
		})
	}
	run, err := c.End(event.Summary{})
	require.NoError(t, err)
	kept := make(map[string]int)
	for _, e := range run.Events {
		kept[e.Outcome]++
	}
	require.Equal(t, map[string]int{"stable": 3, "changed": 3, "failed": 20}, kept)
}

// What makes the command fail fails in a report, and nothing else does.
func TestFails(t *testing.T) {
	for _, tt := range []struct {
		event Event
		drift bool
		want  bool
	}{
		{Event{Outcome: "failed", Failed: true}, false, true},
		{Event{Outcome: "failed", Failed: true, Ignored: true}, false, false},
		{Event{Outcome: "pending"}, false, false},
		{Event{Outcome: "pending"}, true, true},
		{Event{Outcome: "unknown"}, true, false},
		{Event{Outcome: "skipped", Skipped: true}, false, false},
	} {
		require.Equal(t, tt.want, (&Run{Drift: tt.drift}).Fails(&tt.event), "%+v", tt)
	}
}
