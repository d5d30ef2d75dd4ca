package fleet_test

import (
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/direct"
)

// What operators store waits for a stream that nobody answers for, as one without a leader.
func TestPublishWaits(t *testing.T) {
	w := newWorld(t, nil)
	conn, err := nats.Connect(w.server.ClientURL())
	require.NoError(t, err)
	defer conn.Close()
	_, err = direct.PublishWithin(t.Context(), conn, direct.Patience, "y", nil)
	require.ErrorIs(t, err, direct.ErrNoStream)
	stored := make(chan error, 1)
	go func() {
		_, err := direct.Publish(t.Context(), conn, "y", nil)
		stored <- err
	}()
	js, err := jetstream.New(conn)
	require.NoError(t, err)
	_, err = js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "Y", Subjects: []string{"y"}, Storage: jetstream.MemoryStorage})
	require.NoError(t, err)
	require.NoError(t, <-stored)
}
