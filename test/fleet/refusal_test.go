package fleet_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/roster"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/fleet/subject"
	"github.com/luaccm/ccm/fleet/where"
)

// A holder of the servers stores an old, correctly signed release again: the node keeps the newer one, also after a
// restart, and reports it until the servers have the newer one.
func TestOldReleaseIsRefused(t *testing.T) {
	f := newFleet(t)
	f.startAndRelease("web1")
	js, err := jetstream.New(f.nc)
	require.NoError(t, err)
	kv, err := js.KeyValue(t.Context(), subject.Control)
	require.NoError(t, err)
	old, err := kv.Get(t.Context(), subject.ReleaseKey("prod"))
	require.NoError(t, err)
	f.release(motd("two"))
	require.Equal(t, signed.Done, f.advance().State)
	newest, err := kv.Get(t.Context(), subject.ReleaseKey("prod"))
	require.NoError(t, err)

	_, err = kv.Put(t.Context(), subject.ReleaseKey("prod"), old.Value())
	require.NoError(t, err)
	refused := func() bool { return strings.HasPrefix(f.problem("web1", record.RollbackRefused), "prod.release: ") }
	f.eventually(refused)
	f.drift("web1")
	f.again("web1")
	f.eventually(func() bool { return f.motd("web1") == "two" && refused() })
	_, err = kv.Put(t.Context(), subject.ReleaseKey("prod"), newest.Value())
	require.NoError(t, err)
	f.eventually(func() bool { return !refused() })
	require.Equal(t, int64(2), f.state("web1").Release)
}

// Facts that are too large are left out and named; the others are sent.
func TestLargeFactsAreLeftOut(t *testing.T) {
	f := newFleet(t)
	f.startAndRelease("web1")
	facts := `{"role": "web", "small": 7, "mounts": "` + strings.Repeat("m", 300<<10) + `"}`
	require.NoError(t, os.WriteFile(filepath.Join(f.dir, "web1", "facts.json"), []byte(facts), 0o644))
	f.release(motd("two")) // facts are gathered after runs
	require.Equal(t, signed.Done, f.advance().State)
	f.eventually(func() bool { return f.problem("web1", record.FactsTruncated) == "omitted: mounts" })
	issued, _ := f.issued(t.Context())
	nodes, err := roster.Read(t.Context(), f.nc, roster.Options{Environments: issued, Environment: "prod", Facts: where.Facts{All: true}})
	require.NoError(t, err)
	require.Equal(t, []string{"mounts"}, nodes[0].Facts.TruncatedFacts)
	require.Contains(t, nodes[0].Facts.Facts, "small")
	require.NotContains(t, nodes[0].Facts.Facts, "mounts")
}
