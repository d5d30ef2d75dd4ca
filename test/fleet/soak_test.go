package fleet_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/agent"
	"github.com/luaccm/ccm/runtime/host"
)

// TestAgentStaysSmallWithNATS simulates days of polls and runs in a minute: of a changing bundle in an object store,
// with data of a bucket and registered services, while connections are cut. Memory, descriptors, connections and
// consumers do not grow.
func TestAgentStaysSmallWithNATS(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	w := newWorld(t, nil)
	w.context("CCM", map[string]any{})
	js := w.fill()
	for _, v := range w.env[len(os.Environ()):] {
		name, val, _ := strings.Cut(v, "=")
		t.Setenv(name, val)
	}
	_, stderr, status := w.ccm("registration", "init", "--replicas", "1")
	require.Zero(t, status, stderr)
	objects, err := js.ObjectStore(t.Context(), "SITES")
	require.NoError(t, err)
	kv, err := js.KeyValue(t.Context(), "CONF")
	require.NoError(t, err)
	target := filepath.Join(t.TempDir(), "made")
	put := func(i int) {
		w.write("site/site.lua", fmt.Sprintf("file { %q, content = \"%04d \" .. data.text, owner = \"%d\", group = \"%d\", mode = \"0644\", register_when_stable = {{ cluster = \"test\", service = \"web\", protocol = \"http\", address = \"192.0.2.7\", port = 80 }} }\n", target, i, os.Getuid(), os.Getgid()))
		_, stderr, status := w.ccm("bundle", "site")
		require.Zero(t, status, stderr)
		text, err := os.ReadFile(filepath.Join(w.dir, "site.tar.gz"))
		require.NoError(t, err)
		_, err = objects.PutBytes(t.Context(), "soak.tar.gz", text)
		require.NoError(t, err)
	}
	put(0)
	config, err := agent.ParseConfig("agent.yaml", "allow_insecure: true\nsources: [obj://SITES/soak.tar.gz]\nexternal_data_url: kv://CONF/data\nnats_context: CCM\nregistration: jetstream\ncache_dir: "+t.TempDir()+"\n")
	require.NoError(t, err)
	said := new(output)
	a, err := agent.New(agent.Options{
		Config: config, Executable: binary, Arguments: []string{"--allow-insecure"}, Log: slog.New(slog.NewTextHandler(said, nil)), Clock: host.RealClock{}, Node: "node",
		Timing: agent.Timing{Poll: 2 * time.Millisecond, BackoffLeast: time.Millisecond, BackoffMost: 20 * time.Millisecond, LockWait: time.Minute},
	})
	require.NoError(t, err)
	stop, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- a.Run(t.Context(), stop) }()
	defer func() {
		close(stop)
		require.NoError(t, <-ended)
	}()
	becomes(t, target, "0000 from kv data", said)

	var before consumption
	var connections int
	const rounds = 24
	for i := range rounds {
		switch i % 10 {
		case 4: // all connections are cut
			for _, c := range clients(t, w) {
				require.NoError(t, w.server.DisconnectClientByID(c))
			}
			require.Eventually(t, func() bool { _, err := kv.Get(t.Context(), "data"); return err == nil }, time.Minute, 10*time.Millisecond)
		case 9:
			put(i)
			becomes(t, target, fmt.Sprintf("%04d from kv data", i), said)
		}
		results, err := a.Do(t.Context(), agent.Request{Mode: []agent.Mode{agent.Apply, agent.Check, agent.Plan}[i%3]})
		require.NoError(t, err)
		require.Len(t, results, 1)
		require.True(t, results[0].OK(), "%+v\n%s", results[0], said)
		if i == rounds/2 {
			before, connections = measureConsumption(t), w.server.NumClients()
		}
	}
	after := measureConsumption(t)
	t.Logf("with the server %+v -> %+v, connections %d -> %d", before, after, connections, w.server.NumClients())
	require.Less(t, after.heap-before.heap, 4<<20, "of the agent and the server, which is in the same process")
	require.LessOrEqual(t, after.descriptors, before.descriptors+6, "connections that are under way have two")
	require.LessOrEqual(t, after.goroutines, before.goroutines+20)
	require.LessOrEqual(t, w.server.NumClients(), connections+3)
	stream, err := js.Stream(t.Context(), "OBJ_SITES")
	require.NoError(t, err)
	consumers := 0
	for range stream.ConsumerNames(t.Context()).Name() {
		consumers++
	}
	require.LessOrEqual(t, consumers, 1, "none is left behind")
	_, err = js.Stream(t.Context(), "REGISTRATION")
	require.NoError(t, err)
	info, err := js.AccountInfo(t.Context())
	require.NoError(t, err)
	require.LessOrEqual(t, info.Consumers, consumers)
}

// clients returns the connections to the server, except those of the test.
func clients(t *testing.T, w *world) (ids []uint64) {
	all, err := w.server.Connz(nil)
	require.NoError(t, err)
	for _, c := range all.Conns {
		if c.Name == "ccm" {
			ids = append(ids, c.Cid)
		}
	}
	return ids
}
