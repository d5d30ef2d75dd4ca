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
	stable := func(tree map[string]any) map[string]any { return map[string]any{"os": tree["os"]} }
	now := time.Unix(1700000000, 0)
	require.False(t, sentFacts{}.covers(sentNow(tree("debian", 1), stable, now)))
	sent := sentNow(tree("debian", 1), stable, now)
	require.True(t, sent.covers(sentNow(tree("debian", 1), stable, now.Add(48*time.Hour))), "nothing changed")
	require.True(t, sent.covers(sentNow(tree("debian", 2), stable, now.Add(59*time.Minute))))
	require.False(t, sent.covers(sentNow(tree("debian", 2), stable, now.Add(time.Hour))))
	require.False(t, sent.covers(sentNow(tree("debian", 2), nil, now.Add(time.Second))), "unknown which are stable")
	require.False(t, sent.covers(sentNow(tree("rhel", 1), stable, now.Add(time.Second))))
}
