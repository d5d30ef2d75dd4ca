package release

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/roster"
	"github.com/luaccm/ccm/fleet/signed"
)

// A rollback goes to a bundle that nodes have run without failing, in whichever release.
func TestHasRun(t *testing.T) {
	const good, other = "sha256:good", "sha256:other"
	node := func(bundle, outcome string, problems ...record.Problem) *roster.Node {
		return &roster.Node{HeartbeatTime: time.Unix(1700000000, 0), State: &record.State{Release: 41, Bundle: bundle, RunID: "r", Outcome: outcome, Problems: problems}}
	}
	refused := record.Problem{Code: record.SignatureRefused, Release: 42, Bundle: good}
	r := &signed.Release{Version: 42, Bundle: good}
	require.False(t, hasRun(r, nil), "there are no nodes")
	require.False(t, hasRun(r, []*roster.Node{{}, node(other, "stable")}), "no node took it")
	require.True(t, hasRun(r, []*roster.Node{node(other, "failed"), node(good, "changed")}))
	require.False(t, hasRun(r, []*roster.Node{node(good, "stable"), node(good, "failed")}))
	require.False(t, hasRun(r, []*roster.Node{node(other, "stable", refused), node(good, "stable")}), "a node refused it")
	require.NoError(t, r.MaxFailed.UnmarshalText([]byte("1")))
	require.True(t, hasRun(r, []*roster.Node{node(good, "stable"), node(good, "interrupted")}))
	require.False(t, hasRun(r, []*roster.Node{node(good, "failed")}), "all that took it failed")
}
