package fleet_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/subject"
)

// Servers that were restarted and then died have all that they acknowledged, and take more. With streams that are
// compressed they did not.
func TestServersDieAfterRestart(t *testing.T) {
	l := newLab(t)
	conn := l.dial(t, l.addNode(t, "web1", "prod"))
	told := 0
	tell := func() {
		t.Helper()
		for range 30 {
			waitFor(t, "an event to be stored", func() error {
				_, err := direct.Publish(t.Context(), conn, subject.Event("prod", "web1"), fmt.Appendf(nil, `{"event_id":"%d","text":"%0500d"}`+"\n", told, told),
					direct.Header("Nats-Msg-Id", fmt.Sprint("web1.", told)))
				return err
			})
			told++
		}
	}
	tell()
	for port, s := range l.servers { // in order, so that they store how far they are
		require.NoError(t, s.Process.Signal(syscall.SIGTERM))
		_ = s.Wait()
		delete(l.servers, port)
	}
	l.startAll(t)
	tell()
	for range 2 {
		l.killAll()
		l.startAll(t)
		tell()
	}
	operator := l.desk(t).Cluster
	waitFor(t, "all that was told to be there", func() error {
		n := 0
		err := direct.All(context.Background(), operator.Conn, direct.Request{Stream: subject.Events, Filter: subject.AllEvents}, func(*direct.Message) error { n++; return nil })
		if err == nil && n != told {
			err = fmt.Errorf("%d of %d", n, told)
		}
		return err
	})
}
