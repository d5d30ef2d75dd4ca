package fleet_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	natsio "github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/nats"
)

// TestDeniedRequests: each request that the server denies is an error at once, and does not affect later ones.
func TestDeniedRequests(t *testing.T) {
	w := newWorld(t, func(o *server.Options) {
		o.Users = []*server.User{{Username: "bob", Password: password, Permissions: &server.Permissions{Publish: &server.SubjectPermission{Allow: []string{"free"}}}}}
	})
	w.context("bob", map[string]any{"user": "bob", "password": password})
	c := nats.New(nats.Options{Context: filepath.Join(w.config, "nats", "context", "bob.json"), Plain: true})
	defer c.Close()
	for name, request := range map[string]func() error{
		"bucket SITES":   func() error { _, err := c.ObjectRevision(t.Context(), "SITES", "x"); return err },
		"subject stored": func() error { return c.Store(t.Context(), natsio.NewMsg("stored")) },
		"subject sent":   func() error { return c.Send(t.Context(), natsio.NewMsg("sent")) },
	} {
		began := time.Now()
		require.ErrorContains(t, request(), name+": permission denied for the credentials of the context", name)
		require.Less(t, time.Since(began), 20*time.Second, name)
		require.NoError(t, c.Send(t.Context(), natsio.NewMsg("free")))
	}
}
