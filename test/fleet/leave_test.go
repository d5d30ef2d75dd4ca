package fleet_test

import (
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/agent"
	"github.com/luaccm/ccm/fleet/node"
	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/signed"
)

// status returns the fleet's status on a node.
func (m *member) status() agent.FleetStatus {
	s, err := agent.ReadStatus(m.cache)
	if err != nil || s.Fleet == nil {
		return agent.FleetStatus{}
	}
	return *s.Fleet
}

// A revoked node keeps its release, and only plans once revoked_after is over.
func TestRevokedNodeOnlyPlans(t *testing.T) {
	f := newThree(t)
	var ahead atomic.Int64
	change := func(o *node.Options) {
		o.RevokedAfter = 24 * time.Hour
		o.Clock = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	}
	again := func() {
		f.nodes["web1"].stop()
		f.start("web1", change)
	}
	f.start("web1", change)
	f.start("web2")
	f.waitForNodes(2)
	f.release(motd("one"))
	require.Equal(t, signed.Done, f.advance().State)
	f.eventually(func() bool { s := f.nodes["web1"].status(); return s.Connected && s.Release == 1 })
	whole := f.nodes["web1"].status()
	require.True(t, whole.OK(), "%v", whole)

	f.lab.must(t, "fleet", "revoke", "web1")
	f.eventually(func() bool {
		s := f.nodes["web1"].status()
		return !s.Connected && s.RevokedAt != nil && s.PlansFrom != nil
	})
	f.drift("web1")
	again()
	f.eventually(func() bool { return f.motd("web1") == "one" }) // it keeps its release

	ahead.Store(int64(48 * time.Hour))
	f.drift("web1")
	again()
	f.eventually(func() bool { return f.planned("web1") })
	require.Equal(t, "by hand", f.motd("web1"))
	require.Equal(t, "one", f.motd("web2"), "the others are as they were")
}

// planned reports whether the last run of a node was a plan.
func (f *fleet) planned(name string) bool {
	s, err := agent.ReadStatus(f.nodes[name].cache)
	if err != nil {
		return false
	}
	for _, x := range s.Sources {
		if x.LastRun != nil && x.LastRun.Counts["pending"] > 0 {
			return true
		}
	}
	return false
}

// With strict_identity the later of two machines with one key leaves the fleet, and only plans.
func TestStrictIdentity(t *testing.T) {
	f := newFleet(t)
	strict := func(o *node.Options) { o.StrictIdentity = true }
	first := f.start("web1", strict)
	f.waitForNodes(1)
	f.release(motd("one"))
	require.Equal(t, signed.Done, f.advance().State)

	copied := *f
	copied.nodes, copied.dir = map[string]*member{}, filepath.Join(f.dir, "copy")
	second := copied.start("web1", strict)
	f.eventually(func() bool { return second.status().LeaveReason != "" })
	require.Contains(t, second.log.String(), "this node leaves the fleet and only makes plans")
	f.eventually(func() bool { s := second.status(); return !s.Connected && !s.OK() })
	f.release(motd("two"))
	require.Equal(t, signed.Done, f.advance().State)
	require.Equal(t, "two", f.motd("web1"))
	require.NotEqual(t, "two", copied.motd("web1"))
	copied.drift("web1")
	results, err := second.agent.Do(t.Context(), agent.Request{Reason: "test", Mode: agent.Apply})
	require.NoError(t, err)
	if len(results) > 0 { // it may have left before it had a release
		require.Equal(t, 1, results[0].Counts["pending"])
	}
	require.Equal(t, "by hand", copied.motd("web1"))
	require.Empty(t, first.status().LeaveReason)
	f.eventually(func() bool { return strings.Contains(f.problem("web1", record.DuplicateIdentity), "key of web1") })
}
