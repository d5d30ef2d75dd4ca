package converge

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
)

// Each event gets the texts that were held, whatever changed in them, and whether or not the changes follow each other.
func TestHeldTexts(t *testing.T) {
	long := strings.Repeat("0123456789abcde\n", 1000)
	var h heldTexts
	var queue []*event.Event
	var want []*resource.TextChange
	last := ""
	for _, x := range []string{
		"", "a\n", "a\nb\n", "b\n", "bb\n", "bbb\n", "bb\n", long, "new\n" + long, "new\n" + long + "more\n", long + "more\n", long[:8000] + "x" + long[8000:], long[:100], "",
		"-a\n", "c\n", "-" + long, long + long,
	} {
		have := last
		x, broken := strings.CutPrefix(x, "-")
		if broken {
			have = "somebody else's\n" + long
		}
		last = x
		for _, c := range []*resource.TextChange{{Path: "/f", Have: have, Want: x, HaveExists: have != "", WantExists: true}, nil} {
			ev := new(event.Event)
			if c != nil {
				ev.Text = new(*c)
			}
			h.hold(ev)
			require.Nil(t, ev.Text)
			queue, want = append(queue, ev), append(want, c)
		}
	}
	for i, ev := range queue {
		h.restore(ev)
		require.Equal(t, want[i], ev.Text)
	}
	require.Empty(t, h.list)
}
