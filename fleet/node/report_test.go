package node

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The load alone is no reason to send all facts again, but once an hour.
func TestVolatileFactsAreSentSeldom(t *testing.T) {
	tree := func(family string, load float64) map[string]any {
		return map[string]any{"os": map[string]any{"family": family}, "load": map[string]any{"1m": load}}
	}
	now := time.Unix(1700000000, 0)
	require.False(t, sentFacts{}.covers(sentNow(tree("debian", 1), now)))
	sent := sentNow(tree("debian", 1), now)
	require.True(t, sent.covers(sentNow(tree("debian", 1), now.Add(48*time.Hour))), "nothing changed")
	require.True(t, sent.covers(sentNow(tree("debian", 2), now.Add(59*time.Minute))))
	require.False(t, sent.covers(sentNow(tree("debian", 2), now.Add(time.Hour))))
	require.False(t, sent.covers(sentNow(tree("rhel", 1), now.Add(time.Second))))
}
