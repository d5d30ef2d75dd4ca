package fleet_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/signed"
)

// A node's report that it could not take a release does not stop the next release, however soon that comes.
func TestRefusalStopsOnlyItsRelease(t *testing.T) {
	f := newFleet(t)
	f.start("web1")
	f.waitForNodes(1)
	missing := "sha256:" + strings.Repeat("ab", 32)
	require.NoError(t, f.controller().BeginRollout(context.Background(), &signed.Release{Bundle: missing, Stages: []string{"100%"}}))
	a := f.advance()
	require.Equal(t, signed.Stopped, a.State, "%+v", a)
	require.Equal(t, string(record.BundleError), a.Causes[0].Resource)
	nodes, err := f.read()
	require.NoError(t, err)
	require.Equal(t, int64(1), nodes[0].State.Problems[0].Release)
	require.Equal(t, missing, nodes[0].State.Problems[0].Bundle)

	f.release(motd("two"))
	a = f.advance()
	require.Equal(t, signed.Done, a.State, "%+v", a)
	require.Equal(t, "two", f.motd("web1"))
}
