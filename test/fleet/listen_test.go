package fleet_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/direct"
)

// TestListenLosesNothing: messages that arrive while the reader is busy are not lost.
func TestListenLosesNothing(t *testing.T) {
	w := newWorld(t, nil)
	nc, err := nats.Connect(w.server.ClientURL())
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	messages, stop, err := direct.Listen(nc, "answers.*")
	require.NoError(t, err)
	t.Cleanup(stop)
	require.NoError(t, nc.Flush())
	const count = 100_000
	for i := range count {
		require.NoError(t, nc.Publish("answers."+strconv.Itoa(i), nil))
	}
	require.NoError(t, nc.Flush())
	for i := range count {
		select {
		case m := <-messages:
			require.Equal(t, "answers."+strconv.Itoa(i), m.Subject)
		case <-time.After(patience):
			t.Fatalf("%d of %d messages came", i, count)
		}
	}
}
