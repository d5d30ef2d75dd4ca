package converge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
)

// The outcomes of an earlier process count for resources that refer to them; these resources are neither checked nor
// reported again.
func TestSettled(t *testing.T) {
	for _, x := range []struct {
		before event.Outcome
		lines  string
		want   string
	}{
		{event.Stable, "a=1 skip;b= subscribe=a", "b stable"},
		{event.Changed, "a=1 skip;b= subscribe=a", "b changed by [knob#a]"},
		{event.Changed, "a=1 skip;b= require=a", "b stable"},
		{event.Pending, "a=1 skip;b= subscribe=a", "b stable"}, // it was only planned
		{event.Failed, "a=1 skip;b=1 require=a;c=1", "b skipped: knob#a failed|c changed"},
		{event.Skipped, "a=1 skip;b=1 subscribe=a", "b skipped: knob#a was skipped"},
		{event.Failed, "a=1;b=1 require=a", "a changed|b changed"}, // it is declared in this process
	} {
		w := newWorld()
		tp, sum := w.run(t, cat(t, x.lines), func(e *converge.Engine) {
			e.Prior = map[resource.ID]event.Outcome{{Type: "knob", Name: "a"}: x.before}
		})
		require.Equal(t, x.want, strings.Join(tp.lines, "|"), "%s: %s", x.before, x.lines)
		require.Equal(t, len(tp.lines), sum.Total())
		if strings.Contains(x.lines, "a=1 skip") {
			require.Empty(t, w.values["a"])
		}
	}
}
