package fleet_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/release"
	"github.com/luaccm/ccm/fleet/signed"
)

// A node that was approved but never began is counted in a rollout, which does not wait for it. When it begins it takes the release.
func TestNodeNeverHeardOf(t *testing.T) {
	f := newThree(t)
	f.start("canary")
	f.start("web1")
	f.waitForNodes(2)
	f.lab.credentials(t, "web2") // approved, without an agent
	f.release(motd("one"), `node == "canary"`)
	stdout, stderr, status := f.lab.ccm("fleet", "rollout", "prod", "--watch", "--sign", f.key.File)
	require.Zero(t, status, stderr)
	require.Regexp(t, `(?m)^100% +2 +1 +1 +0 +0 +0 +ok\n  never reported  1  \(web2\); ignored\n$`, stdout)
	look := func() (a release.Assessment) {
		require.NoError(t, json.Unmarshal([]byte(f.lab.must(t, "fleet", "rollout", "prod", "--output", "json")), &a))
		return a
	}
	a := look()
	require.Equal(t, signed.Done, a.State)
	require.Equal(t, []int{2, 1, 1}, []int{a.Stages[1].Nodes, a.Stages[1].Done, a.Stages[1].Unheard})
	require.Equal(t, []string{"web2"}, a.Stages[1].UnheardNodes)
	shown := f.lab.must(t, "fleet", "status")
	require.Contains(t, shown, "prod  3 nodes: 2 changed, 1 not heard of")
	require.Contains(t, shown, "2 of 3  done, 1 not heard of")
	require.Contains(t, f.lab.must(t, "fleet", "nodes", "--where", `node == "web2"`, "--output", "json"), `"status":"not heard of"`)

	_, stderr, status = f.lab.ccm("fleet", "plan", "--all", "--environment", "prod", "--sign", f.key.File)
	require.Zero(t, status, stderr)
	require.Contains(t, stderr, "! Skipped nodes that have never reported: web2\n")

	f.start("web2")
	f.eventually(func() bool { a = look(); return a.Stages[1].Done == 2 })
	require.Zero(t, a.Stages[1].Unheard)
	require.Equal(t, "one", f.motd("web2"))
	require.NotContains(t, f.lab.must(t, "fleet", "status"), "not heard of")
	require.False(t, strings.Contains(f.lab.must(t, "fleet", "rollout", "prod"), "not heard of"))
}

// A release whose first stage has only nodes that were never heard of waits for one of them: others would take what nobody has tried.
func TestStageNeverHeardOf(t *testing.T) {
	f := newThree(t)
	f.start("web1")
	f.waitForNodes(1)
	f.lab.credentials(t, "canary") // approved, without an agent
	f.release(motd("one"), `node == "canary"`)
	look := func() (a release.Assessment) {
		require.NoError(t, json.Unmarshal([]byte(f.lab.must(t, "fleet", "rollout", "prod", "--output", "json")), &a))
		return a
	}
	require.Equal(t, release.Wait, look().Verdict)
	require.Contains(t, f.lab.must(t, "fleet", "rollout", "prod"), ": rolling: no node of this stage has ever reported: start the agents, or advance with ccm fleet rollout next\n")
	f.start("canary")
	f.eventually(func() bool { return look().Stages[0].Done == 1 })
	require.Empty(t, f.motd("web1"))
	_, stderr, status := f.lab.ccm("fleet", "rollout", "prod", "--watch", "--sign", f.key.File)
	require.Zero(t, status, stderr)
	require.Equal(t, "one", f.motd("web1"))
}
