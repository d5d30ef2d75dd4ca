package report

import (
	"io"
	"testing"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
)

// BenchmarkEvents tells of one resource, stable and changed, to people and to
// programs.
func BenchmarkEvents(b *testing.B) {
	stable := &event.Event{
		Resource: &resource.Resource{ID: id("/etc/app/f000001.conf"), Pos: diag.Pos{File: "site.lua", Line: 3}, Common: new(resource.Common)},
		Provider: "posix", Ensure: "present", Start: time.Unix(1, 0), Duration: time.Microsecond,
	}
	changed := *stable
	changed.Outcome, changed.Actions = event.Changed, []resource.Action{{Verb: "Store", Phrase: "created the file"}}
	changed.Diff = []resource.Delta{{Property: "ensure", Have: "absent", Want: "present"}, {Property: "owner", Want: "root"}, {Property: "mode", Want: "0644"}}
	for _, e := range []*event.Event{stable, &changed} {
		for _, to := range []struct {
			name string
			event.Reporter
		}{
			{"text", Text{W: io.Discard, Diff: DiffSummary}},
			{"json", NewJSON(io.Discard, Origin{RunID: "20260101T000000.000000Z-000000"}, DiffSummary)},
		} {
			b.Run(to.name+"/"+e.Outcome.String(), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					to.Event(e)
				}
			})
		}
	}
}
