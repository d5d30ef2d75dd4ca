package fleet_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/fleet/subject"
)

// acknowledge turns the acknowledgements of the stream of events on or off. Nodes cannot tell that from servers that
// die between storing and acknowledging a message.
func (f *fleet) acknowledge(does bool) {
	js, err := jetstream.New(f.nc)
	require.NoError(f.t, err)
	stream, err := js.Stream(f.t.Context(), subject.Events)
	require.NoError(f.t, err)
	c := stream.CachedInfo().Config
	c.NoAck = !does
	_, err = js.UpdateStream(f.t.Context(), c)
	require.NoError(f.t, err)
}

// told returns how often each named line of a node was stored.
func (f *fleet) told(node string) map[string]int {
	by := map[string]int{}
	for _, x := range f.tells(node) {
		if name, ok := x["name"].(string); ok {
			by[name]++
		}
	}
	return by
}

// A record grows while its first lines are not acknowledged: in the end each line is stored once.
func TestFleetRecordGrowsUnacknowledged(t *testing.T) {
	f := newFleet(t)
	f.start("web1")
	f.waitForNodes(1)
	f.acknowledge(false)
	runs := filepath.Join(f.dir, "web1", "state", "runs")
	require.NoError(t, os.MkdirAll(runs, 0o700))
	record, err := os.OpenFile(filepath.Join(runs, "99991231T000000.000000Z-grows.ndjson"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	defer record.Close()
	line := func(name string) {
		text, err := json.Marshal(map[string]string{"protocol": "io.choria.ccm.v1.transaction.event", "event_id": "id-" + name, "outcome": "changed", "name": name})
		require.NoError(t, err)
		_, err = fmt.Fprintf(record, "%s\n", text)
		require.NoError(t, err)
	}
	line("first")
	f.eventually(func() bool { return f.told("web1")["first"] == 1 })
	line("second")
	f.acknowledge(true)
	require.Eventually(t, func() bool { return f.told("web1")["second"] > 0 }, limit, 50*time.Millisecond, "what came later is lost")
	require.Equal(t, map[string]int{"first": 1, "second": 1}, f.told("web1"))
}

// The same for messages without a record: a job arrives while the messages about another one are not acknowledged.
func TestFleetJobsUnacknowledged(t *testing.T) {
	f := newFleet(t)
	f.start("web1")
	f.waitForNodes(1)
	f.acknowledge(false)
	say := func() string {
		j := &signed.Job{Verb: signed.VerbFacts}
		f.sender().Fill(j, []string{"web1"}, time.Hour)
		text, err := signed.Sign(t.Context(), j, f.key)
		require.NoError(t, err)
		_, err = direct.Publish(t.Context(), f.nc, subject.Job("prod", "web1"), text)
		require.NoError(t, err)
		return j.ID
	}
	one := say()
	f.eventually(func() bool { return len(f.results("web1", one)) > 0 })
	two := say()
	f.acknowledge(true)
	for _, id := range []string{one, two} {
		require.Eventually(t, func() bool { return slices.Contains(f.results("web1", id), "done") }, limit, 50*time.Millisecond, "what came later is lost")
		require.Equal(t, []string{"accepted", "done"}, f.results("web1", id))
	}
}
