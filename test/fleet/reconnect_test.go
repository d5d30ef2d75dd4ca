package fleet_test

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/agent"
	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/node"
	"github.com/luaccm/ccm/fleet/subject"
)

// What happened while there was no connection is told as soon as there is one.
func TestEventsAfterReconnect(t *testing.T) {
	store := t.TempDir()
	f := &fleet{t: t, dir: t.TempDir(), nodes: map[string]*member{}}
	s := startServer(t, "nats1", store, -1, 0, "")
	f.urls = []string{s.ClientURL()}
	f.connect(1)
	u, err := url.Parse(s.ClientURL())
	require.NoError(t, err)
	port, err := strconv.Atoi(u.Port())
	require.NoError(t, err)
	web1 := f.start("web1", func(o *node.Options) { o.Timing.Retry = time.Hour })
	f.waitForNodes(1)

	s.Shutdown()
	s.WaitForShutdown()
	f.eventually(func() bool { return !web1.node.Status().Connected })
	web1.node.RunLine(&agent.Run{Request: agent.Request{Mode: agent.Plan}}, []byte(`{"protocol":"`+agent.EventProtocol+`","event_id":"e1","outcome":"changed"}`))
	time.Sleep(10 * shortTiming.Batch) // so that the node sees that it cannot be sent

	s = startServer(t, "nats1", store, port, 0, "")
	t.Cleanup(s.Shutdown)
	f.eventually(func() bool {
		found := false
		err := direct.All(context.Background(), f.nc, direct.Request{Stream: subject.Events, Filter: subject.AllEvents}, func(m *direct.Message) error {
			found = found || strings.Contains(string(m.Data), `"e1"`)
			return nil
		})
		return err == nil && found
	})
}
