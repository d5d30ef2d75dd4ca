package converge_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// ledger is a journal in memory. It records the order of calls.
type ledger struct {
	w     *world
	debts []event.PendingRefresh
	notes []string
	full  bool
}

func (l *ledger) AddRefreshes(by resource.ID, cause event.Cause, to []resource.ID) error {
	if l.full {
		return errors.New("no space left on device")
	}
	for _, id := range to {
		l.debts = append(l.debts, event.PendingRefresh{To: id, By: by, Run: "now", Cause: cause})
	}
	l.notes = append(l.notes, fmt.Sprintf("%s, which is %q, owes %v", by.Name, l.w.values[by.Name], to))
	return nil
}

func (l *ledger) strike(verb string, match func(event.PendingRefresh) bool) {
	var left []event.PendingRefresh
	for _, d := range l.debts {
		if !match(d) {
			left = append(left, d)
		}
	}
	l.debts = left
	l.notes = append(l.notes, verb)
}

func (l *ledger) CancelRefreshes(by resource.ID) {
	l.strike("forgiven "+by.Name, func(d event.PendingRefresh) bool { return d.By == by && d.Run == "now" })
}

func (l *ledger) FinishRefreshes(to resource.ID) {
	l.strike("settled "+to.Name, func(d event.PendingRefresh) bool { return d.To == to })
}

func (l *ledger) DropRefresh(d event.PendingRefresh) {
	l.strike("dropped "+d.To.Name, func(x event.PendingRefresh) bool { return x == d })
}

func (l *ledger) RecordRemoval(r *resource.Resource, _ []resource.Declaration) error {
	l.notes = append(l.notes, "removal of "+r.ID.Name)
	return nil
}

func id(name string) resource.ID { return resource.ID{Type: "knob", Name: name} }

func TestJournal(t *testing.T) {
	old := func(to string) event.PendingRefresh {
		return event.PendingRefresh{To: id(to), By: id("z"), Run: "before"}
	}
	for _, x := range []struct {
		name, lines string
		pending     []event.PendingRefresh
		run, notes  string
		refreshes   string
	}{
		{name: "before the change, until the refresh", lines: "a=1;b= subscribe=a",
			run: "a changed|b changed by [knob#a]", notes: `a, which is "", owes [knob#b]|settled b`},
		{name: "nothing to do, nothing written", lines: "a=;b= subscribe=a", run: "a stable|b stable"},
		{name: "nobody to refresh, nothing written", lines: "a=1;b= require=a", run: "a changed|b stable"},
		{name: "a refresh that does nothing is settled", lines: "a=1;b= subscribe=a deaf",
			run: "a changed|b stable", notes: `a, which is "", owes [knob#b]|settled b`},
		{name: "a failure that changed nothing owes nothing", lines: "a=broken;b= subscribe=a",
			run: "a failed: it broke|b skipped: knob#a failed", notes: `a, which is "", owes [knob#b]|forgiven a`},
		{name: "a change in a transaction that fails settles nothing", lines: "a=broken joins=x deaf;b=1 joins=x", pending: []event.PendingRefresh{old("a")},
			run: "a failed: it broke|b changed", refreshes: "a of z"},
		{name: "a change in a transaction settles", lines: "a=1 joins=x deaf;b=1 joins=x", pending: []event.PendingRefresh{old("a")},
			run: "a changed|b changed", notes: "settled a"},
		{name: "a refresh that fails is owed", lines: "a=1;b=broken subscribe=a",
			run: "a changed|b failed by [knob#a]: it broke", notes: `a, which is "", owes [knob#b]`, refreshes: "b of a"},
		{name: "a subscriber that is skipped is owed", lines: "a=1;c=broken;b= subscribe=a require=c",
			run: "a changed|c failed: it broke|b skipped: knob#c failed", notes: `a, which is "", owes [knob#b]`, refreshes: "b of a"},
		{name: "left over", lines: "b=", pending: []event.PendingRefresh{old("b")}, run: "b changed by []", notes: "settled b"},
		{name: "left over, and a change besides", lines: "a=1;b= subscribe=a", pending: []event.PendingRefresh{old("b")},
			run: "a changed|b changed by [knob#a]", notes: `a, which is "", owes [knob#b]|settled b`},
		{name: "left over to what is not managed", lines: "b= skip", pending: []event.PendingRefresh{old("b")}, run: "b skipped: control says so", refreshes: "b of z"},
		{name: "left over to what does not exist", lines: "a=", pending: []event.PendingRefresh{old("b")}, run: "a stable", notes: "dropped b"},
		{name: "left over and refreshing others", lines: "b=;c= subscribe=b", pending: []event.PendingRefresh{old("b")},
			run: "b changed by []|c changed by [knob#b]", notes: `b, which is "", owes [knob#c]|settled b|settled c`},
	} {
		t.Run(x.name, func(t *testing.T) {
			w := newWorld()
			l := &ledger{w: w, debts: append([]event.PendingRefresh(nil), x.pending...)}
			tp, sum := w.run(t, cat(t, x.lines), func(e *converge.Engine) { e.Journal, e.PendingRefreshes = l, x.pending })
			require.Equal(t, x.run, strings.Join(tp.lines, "|"))
			require.Equal(t, x.notes, strings.Join(l.notes, "|"))
			var owed []string
			for _, d := range l.debts {
				owed = append(owed, d.To.Name+" of "+d.By.Name)
			}
			require.Equal(t, x.refreshes, strings.Join(owed, ", "))
			require.Equal(t, strings.Contains(x.notes, "dropped"), len(sum.DroppedRefreshes) == 1)
		})
	}
}

func TestJournalThatCannotBeWritten(t *testing.T) {
	w := newWorld()
	tp, _ := w.run(t, cat(t, "a=1;b= subscribe=a;c=1"), func(e *converge.Engine) { e.Journal = &ledger{w: w, full: true} })
	require.Equal(t, []string{
		"a failed: cannot record pending refreshes: no space left on device", "b skipped: knob#a failed", "c changed",
	}, tp.lines)
	require.NotContains(t, w.values, "a")
}

// TestPlanOfLeftOver: a plan shows pending refreshes of earlier runs, and writes nothing.
func TestPlanOfLeftOver(t *testing.T) {
	w, tp := newWorld(), new(tape)
	l := &ledger{w: w}
	left := []event.PendingRefresh{{To: id("b"), By: id("z"), Run: "before"}, {To: id("gone"), By: id("z"), Run: "before"}}
	e := converge.Engine{Registry: w.registry(t), Facts: facts.Static(nil), Reporters: []event.Reporter{tp}, Journal: l, PendingRefreshes: left}
	sum := e.Plan(t.Context(), &host.New(host.Options{}).View, cat(t, "a=1;b= subscribe=a;c= subscribe=b"))
	require.Equal(t, []string{"a pending", "b pending by [knob#a]", "c pending by [knob#b]"}, tp.lines)
	require.Equal(t, left[:1], tp.events[1].PendingRefreshes)
	require.Equal(t, left[1:], sum.DroppedRefreshes)
	require.Empty(t, l.notes)
	require.Empty(t, w.kicks)
}

func TestCauseOfRefreshes(t *testing.T) {
	w := newWorld()
	causes := map[string]event.Cause{"a": event.Corrective, "b": event.Corrective, "c": event.Intended, "d": event.Corrective, "e": event.New}
	tp, _ := w.run(t, cat(t, "a=1;b= subscribe=a;c=1;d= subscribe=a,c;e= subscribe=a"), func(e *converge.Engine) {
		e.Cause = func(r *resource.Resource, _ resource.DesiredDigest, _ func() string) event.Cause {
			return causes[r.ID.Name]
		}
	})
	var got []string
	for _, ev := range tp.events {
		got = append(got, ev.Resource.ID.Name+" "+ev.Cause.String())
	}
	require.Equal(t, []string{"a corrective", "b corrective", "c intended", "d intended", "e new"}, got)
}
