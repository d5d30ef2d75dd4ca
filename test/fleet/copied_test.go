package fleet_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/subject"
)

// A machine that was copied with its key, and ends before the node hears its heartbeat, leaves its state and facts on the servers. The
// node replaces them by its own.
func TestCopiedMachineLeavesNothing(t *testing.T) {
	f := newThree(t)
	f.start("web1")
	f.waitForNodes(1)
	f.release(motd("one"))
	f.advance()
	f.eventually(func() bool { return f.state("web1").Outcome == "changed" })
	own := f.state("web1")

	conn, err := f.lab.access(t, f.lab.credentials(t, "web1"), subject.Inbox("web1")).Dial()
	require.NoError(t, err)
	defer conn.Close()
	put := func(key string, text []byte, err error) uint64 {
		require.NoError(t, err)
		ack, err := direct.Publish(t.Context(), conn, subject.KV(subject.Nodes, key), text)
		require.NoError(t, err)
		return ack.Sequence
	}
	state, err := record.State{Node: "web1", Environment: "prod", Time: time.Now(), RunID: "copy", Outcome: "failed"}.Encode()
	put(subject.StateKey("web1"), state, err)
	facts, err := record.Facts{Node: "web1", Time: time.Now(), Facts: map[string]any{"copy": true}}.Encode()
	copied := put(subject.FactsKey("web1"), facts, err)

	f.eventually(func() bool { s := f.state("web1"); return s.RunID == own.RunID && s.Outcome == own.Outcome })
	f.eventually(func() bool {
		found, err := direct.Last(t.Context(), conn, subject.KVStream(subject.Nodes), subject.KV(subject.Nodes, subject.FactsKey("web1")))
		return err == nil && found.Sequence > copied
	})
	require.Empty(t, f.problem("web1", record.DuplicateIdentity))
}
