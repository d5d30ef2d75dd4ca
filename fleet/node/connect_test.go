package node

import (
	"net/url"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
)

// A connection comes back to the next server, after a random time that is longer after each round of all.
func TestReconnect(t *testing.T) {
	var o nats.Options
	timing := Timing{ReconnectLeast: time.Second, ReconnectSpread: 4 * time.Second, ReconnectMost: time.Minute}
	require.NoError(t, timing.Reconnect()(&o))
	servers := make([]nats.Server, 3)
	for i, name := range []string{"a", "b", "c"} {
		servers[i].URL = &url.URL{Host: name}
	}
	var order string
	longest := make(map[int]time.Duration)
	for range 200 {
		for round := range 2 {
			for range servers {
				next, pause := o.ReconnectToServerCB(servers, nats.ServerInfo{})
				order += next.URL.Host
				next.Reconnects = round + 1
				longest[round] = max(longest[round], pause)
				require.GreaterOrEqual(t, pause, time.Second/2)
			}
		}
		for i := range servers {
			servers[i].Reconnects = 0
		}
	}
	require.Equal(t, "bcabca", order[:6])
	require.LessOrEqual(t, longest[0], 5*time.Second)
	require.Greater(t, longest[0], 3*time.Second)
	require.Greater(t, longest[1], 6*time.Second)
	require.LessOrEqual(t, longest[1], 10*time.Second)

	_, pause := o.ReconnectToServerCB(servers[:1], nats.ServerInfo{}) // servers may become fewer
	require.LessOrEqual(t, pause, 5*time.Second)
}
