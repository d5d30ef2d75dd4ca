package fleet_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/subject"
	"github.com/luaccm/ccm/test/fleet/crowd"
)

// All servers restart, and all nodes reconnect at once. Each takes the release made meanwhile, and accepts a job
// once.
func TestManyReconnect(t *testing.T) { reconnect(t, 300) }

func TestSoakManyReconnect(t *testing.T) {
	soak(t)
	count := crowd.MostMachines(10_000)
	t.Logf("%d machines of 10,000: so many the limit of open files allows", count)
	require.GreaterOrEqual(t, count, 1000)
	reconnect(t, count)
}

func reconnect(t *testing.T, count int) {
	l := newLab(t)
	key, allowed := l.operatorKey(t, "ops", 7)
	memory, err := os.MkdirTemp("/dev/shm", "crowd-") // 10,000 machines have more than one disk
	if err != nil {
		memory = t.TempDir()
	}
	watch, gate := new(crowd.Watch), make(chan struct{})
	close(gate)
	var running sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(func() { stop(); running.Wait(); os.RemoveAll(memory) })
	var machines []*crowd.Machine
	for i := range count {
		m, err := crowd.New(crowd.Options{Fleet: l.directory(t), Memory: memory, Allowed: allowed, Watch: watch, Gate: gate}, i)
		require.NoError(t, err)
		machines = append(machines, m)
	}
	began := time.Now()
	l.must(t, "fleet", "init", l.dir, "--apply")
	t.Logf("%d approvals stored in %s", count, time.Since(began))
	until := func(what string, is func() int64, want int) {
		t.Helper()
		began := time.Now()
		for end := began.Add(10 * time.Minute); is() < int64(want); time.Sleep(10 * time.Millisecond) {
			require.True(t, time.Now().Before(end), "%s: %d of %d", what, is(), want)
		}
		t.Logf("%s: %s", what, time.Since(began))
	}
	for i, m := range machines {
		for int64(i)-watch.Connected.Load() >= 256 { // the usual number of concurrent connects
			time.Sleep(time.Millisecond)
		}
		running.Go(func() { m.Run(ctx) })
	}
	until("all connected", watch.Connected.Load, count)
	f := l.fleet(t)
	js, err := jetstream.New(f.nc)
	require.NoError(t, err)
	messages := func(bucket string) func() int64 {
		return func() int64 {
			s, err := js.Stream(ctx, subject.KVStream(bucket))
			if err != nil {
				return 0
			}
			return int64(s.CachedInfo().State.Msgs)
		}
	}
	until("facts and states", messages(subject.Nodes), 2*count)
	release := func(word string) {
		t.Helper()
		waitFor(t, "the release of "+word, func() error {
			_, stderr, status := l.ccm("fleet", "release", "prod", l.site(t, motd(word)), "--sign", key, "--no-check")
			if status != 0 {
				return errors.New(stderr)
			}
			return nil
		})
	}
	release("one")
	until("its bundles", watch.Installed.Load, count)

	watch.Connected.Store(0)
	l.killAll()
	l.startAll(t)
	release("two")
	until("all connected again", watch.Connected.Load, count)
	until("all seen again", messages(subject.Presence), count)
	until("the bundles of the second release", watch.Installed.Load, 2*count)
	stdout, stderr, status := l.ccm("fleet", "rollout", "prod", "--sign", key, "--watch")
	require.Zero(t, status, stdout+stderr)
	require.Contains(t, stdout, fmt.Sprint(count))
	require.Equal(t, int64(2*count), watch.Installed.Load())
	out := l.must(t, "fleet", "plan", "--all", "--environment", "prod", "--sign", key)
	require.Contains(t, out, fmt.Sprintf("done %d", count))
	var job struct {
		Verb     string
		Progress struct{ Nodes int }
	}
	text := l.must(t, "fleet", "jobs", "--last", "1", "--output", "json")
	require.NoError(t, json.Unmarshal([]byte(text), &job), text)
	require.Equal(t, "plan", job.Verb)
	require.Equal(t, count, job.Progress.Nodes)
	require.Zero(t, watch.Warnings.Load())
}
