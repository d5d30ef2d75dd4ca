package fleet_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/fleet/subject"
)

// rollouts returns all stored versions of an environment's rollout, in order.
func (f *fleet) rollouts() (list []signed.Rollout) {
	t := f.t
	js, err := jetstream.New(f.nc)
	require.NoError(t, err)
	kv, err := js.KeyValue(t.Context(), subject.Control)
	require.NoError(t, err)
	history, err := kv.History(t.Context(), "prod.rollout")
	require.NoError(t, err)
	for _, entry := range history {
		var r signed.Rollout
		require.NoError(t, signed.Read(entry.Value(), &r))
		list = append(list, r)
	}
	return list
}

// Two controllers move a rollout, and are killed repeatedly at random moments. Each stage begins once, in order, and
// no node runs the release twice.
func TestControllersKilled(t *testing.T) {
	f := newThree(t)
	for _, name := range []string{"canary", "web1", "web2"} {
		f.start(name)
	}
	f.waitForNodes(3)
	f.release(motd("one"), `node == "canary"`, `node == "web1"`)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for seed := range uint64(2) {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(seed, 16))
			for ctx.Err() == nil {
				cmd := f.lab.command(ctx, "fleet", "rollout", "prod", "--watch", "--sign", f.key.File)
				if cmd.Start() != nil {
					return
				}
				killer := time.AfterFunc(time.Duration(random.Int64N(int64(3*time.Second))), func() { _ = cmd.Process.Kill() })
				_ = cmd.Wait()
				killer.Stop()
			}
		})
	}
	f.eventually(func() bool {
		list := f.rollouts()
		return list[len(list)-1].State == signed.Done
	})
	cancel()
	wg.Wait()

	list := f.rollouts()
	begun := map[int]int{}
	for i, r := range list {
		require.Equal(t, int64(i+1), r.Version)
		if i == 0 || r.Stage != list[i-1].Stage {
			begun[r.Stage]++
		}
		if i > 0 {
			require.Contains(t, []int{0, 1}, r.Stage-list[i-1].Stage, "no stage is left out, and none comes again")
		}
	}
	require.Equal(t, map[int]int{0: 1, 1: 1, 2: 1}, begun)
	for name := range f.nodes {
		f.eventually(func() bool { return len(f.changes(name)) == 1 })
		require.Equal(t, "one", f.motd(name))
	}
	stdout, _, status := f.lab.ccm("fleet", "rollout", "prod", "--watch", "--sign", f.key.File)
	require.Zero(t, status, "one that comes later finds it done: %s", stdout)
}

// Without a controller a rollout stays in its stage, even when all nodes of the stage are done.
func TestRolloutWithoutController(t *testing.T) {
	f := newFleet(t)
	f.start("canary")
	f.start("web1")
	f.waitForNodes(2)
	f.release(motd("one"), `node == "canary"`)
	f.eventually(func() bool { return f.motd("canary") == "one" && f.state("canary").Release == 1 })
	f.order(&signed.Job{Verb: signed.VerbRun}, limit, "web1")
	require.Empty(t, f.motd("web1"), "its stage has not begun")
	require.Equal(t, 0, f.rollouts()[0].Stage)
	require.Len(t, f.rollouts(), 1)
	require.Equal(t, signed.Done, f.advance().State)
	require.Equal(t, "one", f.motd("web1"))
}
