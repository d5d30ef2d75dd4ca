package converge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/event"
)

// Consecutive resources that need time to settle are converged first and checked afterwards, but before any resource
// that depends on them or needs no time.
func TestSettling(t *testing.T) {
	for _, x := range []struct{ name, lines, falls, did, run string }{
		{"one", "a=1 settle", "", "set a|look a", "a changed"},
		{"in a row", "a=1 settle;b= settle;c=1 settle", "", "set a|set c|look a|look c", "a changed|b stable|c changed"},
		{"then another", "a=1 settle;b=1;c=1 settle", "", "set a|look a|set b|look b|set c|look c", "a changed|b changed|c changed"},
		{"that depends", "a=1 settle;b=1 settle;c=1 settle require=a;d=1 settle", "", "set a|set b|look a|look b|set c|set d|look c|look d",
			"a changed|b changed|c changed|d changed"},
		{"that is refreshed", "a=1 settle;b= settle subscribe=a", "", "set a|look a|kick b|look b", "a changed|b changed by [knob#a]"},
		{"the first falls", "a=1 settle;b=1 settle;c= settle require=a", "a", "set a|set b|look a|look b",
			"a failed: it fell|b changed|c skipped: knob#a failed"},
		{"the last falls", "a=1 settle;b=1 settle;c=1 subscribe=b", "b", "set a|set b|look a|look b",
			"a changed|b failed: it fell|c skipped: knob#b failed"},
		{"health is checked after that", "a=1 settle health=true;b=1 settle", "", "set a|look a|set b|look b", "a changed|b changed"},
		{"what is not managed", "a=1 settle;b=1 settle skip;c=1 settle", "", "set a|look a|set c|look c", "a changed|b skipped: control says so|c changed"},
	} {
		t.Run(x.name, func(t *testing.T) {
			w := newWorld()
			w.falls = x.falls
			tp, sum := w.run(t, cat(t, x.lines))
			require.Equal(t, x.did, strings.Join(w.did, "|"))
			require.Equal(t, x.run, strings.Join(tp.lines, "|"))
			require.Equal(t, len(tp.lines), sum.Total())
		})
	}
}

// With FailOnError, the resources behind one that settles wait for its check.
func TestSettlingFailOnError(t *testing.T) {
	w := newWorld()
	w.falls = "a"
	tp, _ := w.run(t, cat(t, "a=1 settle;b=1 settle"), func(e *converge.Engine) { e.FailOnError = true })
	require.Equal(t, []string{"a failed: it fell", "b skipped: fail_on_error is set and knob#a failed"}, tp.lines)
}

// A refresh stays pending until the check of its result.
func TestSettlingOwed(t *testing.T) {
	for falls, want := range map[string]string{"": "settled a|settled b", "a": "settled b"} {
		w, l := newWorld(), new(ledger)
		w.falls, l.w = falls, w
		w.values["a"], w.values["b"] = "1", "1"
		w.run(t, cat(t, "a=1 settle;b=1 settle"), func(e *converge.Engine) {
			e.Journal = l
			e.PendingRefreshes = []event.PendingRefresh{{To: id("a"), By: id("z"), Run: "r"}, {To: id("b"), By: id("z"), Run: "r"}}
		})
		require.Equal(t, "kick a|kick b|look a|look b", strings.Join(w.did, "|"))
		require.Equal(t, want, strings.Join(l.notes[max(0, len(l.notes)-len(strings.Split(want, "|"))):], "|"), "%q falls", falls)
	}
}
