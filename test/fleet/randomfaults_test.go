package fleet_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/signed"
)

// For as long as make fleet-soak is told (SOAK=72h), a fleet of five agents is hit by a random fault each minute. After
// each one a release goes out and runs on all nodes. Memory and descriptors of the agents do not grow.
func TestSoakRandomFaults(t *testing.T) {
	soak(t)
	span, err := time.ParseDuration(os.Getenv(soakVariable))
	require.NoError(t, err, soakVariable)
	f := newThree(t)
	f.parts = limit // servers may take long to elect a leader, and a node that gives up would stop the rollout
	names := []string{"web1", "web2", "web3", "web4", "web5"}
	f.startAndRelease(names...)
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("%s with the seed %d", span, seed)

	faults := []randomFault{
		{"a server is killed", func() {
			port := f.lab.ports[random.IntN(3)]
			f.lab.kill(port)
			time.Sleep(10 * time.Second)
			f.lab.start(t, port)
		}},
		{"a server hangs", func() {
			server := f.lab.servers[f.lab.ports[random.IntN(3)]].Process
			require.NoError(t, server.Signal(syscall.SIGSTOP))
			time.Sleep(15 * time.Second)
			require.NoError(t, server.Signal(syscall.SIGCONT))
		}},
		{"all servers are killed", func() {
			f.lab.killAll()
			time.Sleep(5 * time.Second)
			f.lab.startAll(t)
		}},
		{"a server is killed while a release goes out", func() {
			port := f.lab.ports[random.IntN(3)]
			f.release(motd(fmt.Sprint("short-lived ", random.Uint64())))
			f.lab.kill(port)
			require.Equal(t, signed.Done, f.advance().State)
			f.lab.start(t, port)
		}},
		{"an agent starts again", func() { f.again(names[random.IntN(len(names))]) }},
		{"a file is changed by hand", func() { f.drift(names[random.IntN(len(names))]) }},
	}
	var before, after consumption
	const warmUp = 3 // rounds until all parts of the agents have been used
	round := 0
	for end := time.Now().Add(span); time.Now().Before(end) || round < 2*warmUp; round++ {
		next := time.Now().Add(time.Minute)
		fault := faults[random.IntN(len(faults))]
		fault.happen()
		f.settled()
		word := fmt.Sprint("round ", round)
		version := f.release(motd(word)).Version
		require.Equal(t, signed.Done, f.advance().State, "round %d: %s", round, fault.name)
		require.True(t, f.runs(version), "round %d: %s", round, fault.name)
		for _, name := range names {
			require.Equal(t, word, f.motd(name), "round %d: %s", round, fault.name)
		}
		after = measureConsumption(t)
		if round == warmUp {
			before = after
		}
		t.Logf("round %d: %s: %+v", round, fault.name, after)
		if time.Now().Before(end) {
			time.Sleep(time.Until(next))
		}
	}
	waitFor(t, "what the last release used to be given back", func() error {
		after = measureConsumption(t)
		if after.heap > before.heap+16<<20 || after.descriptors > before.descriptors+10 || after.goroutines > before.goroutines+50 {
			return fmt.Errorf("%+v, and %+v after %d rounds", after, before, warmUp)
		}
		return nil
	})
	waitFor(t, "the servers to hold what the nodes have told", func() error {
		if stdout, stderr, status := f.lab.ccm("fleet", "check"); status != 0 {
			return fmt.Errorf("%s%s", stdout, stderr)
		}
		return nil
	})
}

// A randomFault happens to a fleet, and is over when happen returns.
type randomFault struct {
	name   string
	happen func()
}

// A consumption is what the process of a test uses, with the agents and the operator in it.
type consumption struct{ heap, descriptors, goroutines int }

func measureConsumption(t *testing.T) consumption {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	list, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return consumption{int(m.HeapAlloc), len(list), runtime.NumGoroutine()}
}
