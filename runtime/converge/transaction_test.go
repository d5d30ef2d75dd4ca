package converge_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// Bulk implements resource.BulkProvider.
func (w *world) Bulk() resource.Bulk[knob, string] {
	return resource.Bulk[knob, string]{
		Together: func(k, other knob) bool { return k.Joins != "" && k.Joins == other.Joins },
		Perform:  w.performAll,
	}
}

// performAll sets knobs until one breaks. A knob with the value "taker" removes others.
func (w *world) performAll(_ context.Context, _ *host.Host, wants []knob, a resource.Action) error {
	var names []string
	for _, k := range wants {
		names = append(names, k.Name)
	}
	w.did = append(w.did, strings.ToLower(a.Verb)+" "+strings.Join(names, "+"))
	var done error
	for _, k := range wants {
		switch k.Value {
		case "loud":
			done = &resource.DoneError{Err: errors.New("done, and something failed")}
		case "broken":
			return errors.New("one of them broke")
		case "stuck":
			continue
		case "taker":
			delete(w.values, "there")
		}
		w.values[k.Name] = k.Value
	}
	return done
}

// Consecutive resources that can share a transaction are converged in one, before any other resource; each has its
// own event.
func TestTransaction(t *testing.T) {
	for _, x := range []struct{ name, lines, did, run string }{
		{"one", "a=1 joins=x", "set a", "a changed"},
		{"in a row", "a=1 joins=x;b=1 joins=x;c=1 joins=x", "set a+b+c", "a changed|b changed|c changed"},
		{"stable in between", "a=1 joins=x;there=1 joins=x;c=1 joins=x", "set a+c", "a changed|there stable|c changed"},
		{"one that takes another away", "a=taker joins=x;there=1 joins=x;c=1 joins=x", "set a+c|set there", "a changed|there changed|c changed"},
		{"other wishes", "a=1 joins=x;b=1 joins=y;c=1 joins=y", "set a|set b+c", "a changed|b changed|c changed"},
		{"none", "a=1 joins=x;b=1;c=1 joins=x", "set a|set b|set c", "a changed|b changed|c changed"},
		{"that depends", "a=1 joins=x;b=1 joins=x require=a;c=1 joins=x", "set a|set b+c", "a changed|b changed|c changed"},
		{"that is refreshed", "a=1 joins=x;there=1 joins=x subscribe=a;c=1 joins=x", "set a|kick there|set c", "a changed|there changed by [knob#a]|c changed"},
		{"a refresh between", "a=1 joins=x notify=r;r=;c=1 joins=x", "set a|kick r|set c", "a changed|r changed by [knob#a]|c changed"},
		{"health is checked after that", "a=1 joins=x;b=1 joins=x health=true;c=1 joins=x", "set a|set b|set c", "a changed|b changed|c changed"},
		{"a time limit", "a=1 joins=x timeout;b=1 joins=x;c=1 joins=x", "set a|set b+c", "a changed|b changed|c changed"},
		{"the right one fails", "a=1 joins=x;b=broken joins=x;c=1 joins=x;d=1 require=b;e=1 require=c", "set a+b+c|set c|set e",
			"a changed|b failed: it broke|c changed|d skipped: knob#b failed|e changed"},
		{"all fail that were done with a failure", "a=1 joins=x;b=loud joins=x;c=1 require=a;d=1", "set a+b|set d",
			"a failed: done, and something failed|b failed: done, and something failed|c skipped: knob#a failed|d changed"},
		{"one that succeeds and does nothing", "a=1 joins=x;b=stuck joins=x", "set a+b", "a changed|b failed: failed to reach desired state: value:  → stuck"},
		{"what cannot be had", "a=1 joins=x;b=impossible joins=x;c=1 joins=x", "set a|set c", "a changed|b failed: cannot be had|c changed"},
		{"needs one that is to come", "a=1 joins=x;b=1 joins=x needs=a", "set a|set b", "a changed|b changed"},
		{"what is not managed", "a=1 joins=x;b=1 joins=x skip;c=1 joins=x", "set a|set c", "a changed|b skipped: control says so|c changed"},
	} {
		t.Run(x.name, func(t *testing.T) {
			w := newWorld()
			w.values["there"] = "1"
			tp, sum := w.run(t, cat(t, x.lines))
			var did []string
			for _, s := range w.did {
				if !strings.HasPrefix(s, "look ") {
					did = append(did, s)
				}
			}
			require.Equal(t, x.did, strings.Join(did, "|"))
			require.Equal(t, x.run, strings.Join(tp.lines, "|"))
			require.Equal(t, len(tp.lines), sum.Total())
			for _, e := range tp.events {
				if e.Outcome == event.Changed && !e.Refreshed {
					require.Equal(t, "Set the value", e.Actions[0].Done())
				}
			}
		})
	}
}

// TestTransactionIsRepeated: the log has a line about the separate repetition of its members at the level debug only.
func TestTransactionIsRepeated(t *testing.T) {
	for level, want := range map[slog.Level]bool{slog.LevelInfo: false, slog.LevelDebug: true} {
		var log strings.Builder
		w := newWorld()
		h := host.New(host.Options{Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: level}))})
		e := converge.Engine{Registry: w.registry(t), Facts: facts.Static(nil)}
		require.Equal(t, 1, e.Run(t.Context(), h, cat(t, "a=1 joins=x;b=broken joins=x")).Of(event.Failed))
		require.Equal(t, want, strings.Contains(log.String(), "2 resources cannot be handled together, handling each separately"), log.String())
	}
}

// The timeout of a transaction is the sum of those of its resources.
func TestTransactionTime(t *testing.T) {
	w := newWorld()
	tp, sum := w.run(t, cat(t, "a=1 joins=x;b=1 joins=x;c=1 joins=x"))
	var all time.Duration
	for _, e := range tp.events {
		require.GreaterOrEqual(t, e.Duration, time.Duration(0))
		all += e.Duration
	}
	require.LessOrEqual(t, all, sum.Duration)
}

// A run that is stopped before a transaction does not begin it.
func TestTransactionStopped(t *testing.T) {
	w, stop := newWorld(), make(chan struct{})
	l := &ledger{w: w}
	w.onLook = func(name string) {
		if name == "b" {
			close(stop)
		}
	}
	tp, sum := w.run(t, cat(t, "a=1 joins=x notify=z;b=1 joins=x;z="), func(e *converge.Engine) { e.Stop, e.Journal = stop, l })
	require.Equal(t, []string{"a skipped: the run was interrupted", "b skipped: the run was interrupted", "z skipped: the run was interrupted"}, tp.lines)
	require.True(t, sum.Interrupted)
	require.Empty(t, w.values)
	require.Contains(t, l.notes, "forgiven a")
}

// With FailOnError, or one resource at a time, there are no transactions.
func TestNoTransaction(t *testing.T) {
	for name, change := range map[string]func(*converge.Engine){
		"fail_on_error": func(e *converge.Engine) { e.FailOnError = true },
		"sequential":    func(e *converge.Engine) { e.Sequential = true },
	} {
		w := newWorld()
		w.run(t, cat(t, "a=1 joins=x;b=1 joins=x"), change)
		require.Equal(t, "set a|look a|set b|look b", strings.Join(w.did, "|"), name)
	}
}
