package prompt

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/words"
)

// The types in this file are the results of plan, events and state at the prompt. Lua can look
// into them.

// liveEvents are the events of a plan or a run.
type liveEvents []*liveEvent

var (
	_ luaapi.MethodLister = liveEvents{}
	_ event.Reporter      = (*liveEvents)(nil)
)

// liveEvent is the event of one resource.
type liveEvent struct {
	ID          string    `json:"id"`
	Type        string    `json:"type"`
	Name        string    `json:"name"`
	Outcome     string    `json:"outcome"`
	Message     string    `json:"message"`
	Reason      string    `json:"reason"`
	Diff        liveDiff  `json:"diff"`
	Text        string    `json:"text"`
	RefreshedBy liveNames `json:"refreshed_by"`
	Error       string    `json:"error"`
	Provider    string    `json:"provider"`
	Position    string    `json:"position"`
	Seconds     float64   `json:"seconds"`
	event       *event.Event
}

// liveDiff lists the properties that differ, or differed.
type liveDiff []*liveDelta

// liveDelta is one property that differs.
type liveDelta struct {
	Property string `json:"property"`
	Have     string `json:"have"`
	Want     string `json:"want"`
}

// liveNames is a list of names.
type liveNames []string

// Event implements event.Reporter.
func (l *liveEvents) Event(e *event.Event) { *l = append(*l, newLiveEvent(e)) }

func newLiveEvent(e *event.Event) *liveEvent {
	ev := report.EventOf(e, "", report.DiffFull)
	out := &liveEvent{
		ID: e.Resource.ID.String(), Type: ev.Type, Name: ev.Name, Outcome: ev.Outcome, Message: ev.Message + ev.NoopMessage,
		Reason: ev.Reason, Diff: liveDiff{}, Text: ev.Text, RefreshedBy: liveNames{}, Provider: ev.Provider, Position: ev.Position,
		Seconds: e.Duration.Seconds(), event: e.Clone(), Error: strings.Join(ev.Errors, "\n"),
	}
	out.RefreshedBy = append(out.RefreshedBy, ev.RefreshedBy...)
	for _, d := range e.Diff {
		out.Diff = append(out.Diff, &liveDelta{d.Property, d.Have, d.Want})
	}
	return out
}

// LuaMethods implements luaapi.MethodLister: each method returns the events with one outcome.
func (liveEvents) LuaMethods() []string {
	return []string{"changed", "failed", "pending", "skipped", "stable", "unknown"}
}

func (l liveEvents) of(o event.Outcome) liveEvents {
	out := liveEvents{}
	for _, e := range l {
		if e.event.Outcome == o {
			out = append(out, e)
		}
	}
	return out
}

// Changed returns the events of changed resources.
func (l liveEvents) Changed() liveEvents { return l.of(event.Changed) }

// Failed returns the events of failed resources.
func (l liveEvents) Failed() liveEvents { return l.of(event.Failed) }

// Pending returns the events of resources that would be changed.
func (l liveEvents) Pending() liveEvents { return l.of(event.Pending) }

// Skipped returns the events of skipped resources.
func (l liveEvents) Skipped() liveEvents { return l.of(event.Skipped) }

// Stable returns the events of stable resources.
func (l liveEvents) Stable() liveEvents { return l.of(event.Stable) }

// Unknown returns the events of resources with an unknown outcome.
func (l liveEvents) Unknown() liveEvents { return l.of(event.Unknown) }

// String returns the events as in a report, and their number.
func (l liveEvents) String() string {
	var b strings.Builder
	var counts [len(event.Outcomes)]int
	for _, e := range l {
		counts[e.event.Outcome]++
		if e.event.Outcome != event.Stable {
			b.WriteString(e.String() + "\n")
		}
	}
	var parts []string
	for _, o := range event.Outcomes {
		if counts[o] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[o], words.Outcome(o.String())))
		}
	}
	if len(parts) == 0 {
		return "no events"
	}
	return b.String() + strings.Join(parts, ", ")
}

// LuaName implements luaapi.Namer.
func (liveEvents) LuaName() string { return "list of events" }

// LuaName implements luaapi.Namer.
func (*liveEvent) LuaName() string { return "event" }

// LuaName implements luaapi.Namer.
func (liveDiff) LuaName() string { return "list of differences" }

// LuaName implements luaapi.Namer.
func (*liveDelta) LuaName() string { return "difference" }

// LuaName implements luaapi.Namer.
func (liveState) LuaName() string { return "state" }

// Key implements luaapi.Keyer.
func (e *liveEvent) Key() string { return e.ID }

// String returns the event as in a report.
func (e *liveEvent) String() string {
	var b bytes.Buffer
	report.Text{W: &b, Verbose: true, Diff: report.DiffSummary}.Event(e.event)
	return strings.TrimRight(b.String(), "\n")
}

// Key implements luaapi.Keyer.
func (d *liveDelta) Key() string { return d.Property }

// String returns the property with its present and wanted value.
func (d *liveDelta) String() string { return resource.Delta(*d).String() }

// String returns the properties, one a line.
func (l liveDiff) String() string {
	lines := make([]string, len(l))
	for i, d := range l {
		lines[i] = d.String()
	}
	if len(lines) == 0 {
		return "no difference"
	}
	return strings.Join(lines, "\n")
}

// String returns the names, separated by commas.
func (l liveNames) String() string { return strings.Join(l, ", ") }

// liveState is the state of a resource: the metadata of its type, and the fields of all types.
type liveState map[string]any

// newLiveState returns a state and its metadata as one map.
func newLiveState(s report.State) (liveState, error) {
	out := liveState{}
	if s.Metadata != nil {
		tab, err := schema.TableOf(s.Metadata)
		if err != nil {
			return nil, err
		}
		for _, m := range tab.Entries {
			out[m.Key] = m.Val.Go()
		}
	}
	out["type"], out["name"], out["ensure"], out["provider"] = s.ResourceType, s.Name, s.Ensure, s.Provider
	return out, nil
}

// String returns the state as an indented tree.
func (s liveState) String() string {
	return strings.TrimRight(schema.Tree(schema.ValueOf(map[string]any(s))), "\n")
}
