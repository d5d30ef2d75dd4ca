package fleet_test

import (
	"context"
	"crypto/rand"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/agent"
	"github.com/luaccm/ccm/fleet/node"
	"github.com/luaccm/ccm/fleet/signed"
)

// A slowNetwork is a proxy in front of a server, with a delay and a limited rate.
type slowNetwork struct {
	t      testing.TB
	to     string
	delay  time.Duration // in each direction
	second int           // bytes per second in each direction
	down   atomic.Int64  // bytes sent to nodes
	listen net.Listener
	mu     sync.Mutex
	closed bool // no connections
	conns  map[net.Conn]bool
}

func newSlowNetwork(t testing.TB, to string, delay time.Duration, bits int) *slowNetwork {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &slowNetwork{t: t, to: to, delay: delay, second: bits / 8, listen: l, conns: map[net.Conn]bool{}}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go s.connect(c)
		}
	}()
	t.Cleanup(func() { l.Close(); s.shut(true) })
	return s
}

func (s *slowNetwork) url() string { return "nats://" + s.listen.Addr().String() }

// shut ends all connections, and accepts none until it is called with false.
func (s *slowNetwork) shut(closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = closed
	for c := range s.conns {
		c.Close()
	}
	clear(s.conns)
}

func (s *slowNetwork) connect(c net.Conn) {
	server, err := net.Dial("tcp", s.to)
	if err != nil {
		c.Close()
		return
	}
	s.mu.Lock()
	if s.closed {
		c.Close()
		server.Close()
	}
	s.conns[c], s.conns[server] = true, true
	s.mu.Unlock()
	go s.pass(server, c, nil)
	s.pass(c, server, &s.down)
}

// pass forwards data late and slowly. Its buffer is small, so the sender has to wait.
func (s *slowNetwork) pass(to, from net.Conn, count *atomic.Int64) {
	type piece struct {
		data []byte
		due  time.Time
	}
	way := make(chan piece, 16)
	go func() {
		defer close(way)
		for {
			data := make([]byte, 1400)
			n, err := from.Read(data)
			if n > 0 {
				way <- piece{data[:n], time.Now().Add(s.delay)}
			}
			if err != nil {
				return
			}
		}
	}()
	defer to.Close()
	defer func() { // the other goroutine may be blocked
		from.Close()
		for range way {
			continue
		}
	}()
	for p := range way {
		time.Sleep(time.Until(p.due))
		time.Sleep(time.Duration(len(p.data)) * time.Second / time.Duration(s.second))
		if _, err := to.Write(p.data); err != nil {
			return
		}
		if count != nil {
			count.Add(int64(len(p.data)))
		}
	}
}

// A node behind a slow network that breaks in between: the download of a bundle continues where it was, and runs do
// not wait for it.
func TestSlowNetwork(t *testing.T) {
	slowBundle(t, 256_000, 400<<10, shortTiming.Parts)
}

// The same with so low a rate that a part of a bundle exceeds the usual timeout.
func TestSoakSlowNetwork(t *testing.T) {
	soak(t)
	slowBundle(t, 64_000, 2<<20, node.DefaultTiming.Parts)
}

func slowBundle(t *testing.T, bits int, size int64, parts time.Duration) {
	f := newFleet(t)
	f.parts = parts
	n := newSlowNetwork(t, strings.TrimPrefix(f.urls[0], "nats://"), 150*time.Millisecond, bits)
	f.start("web1", func(o *node.Options) { o.Servers = []string{n.url()} })
	f.waitForNodes(1)
	f.release(motd("one"))
	require.Equal(t, signed.Done, f.advance().State)

	site := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(site, "site.lua"), []byte(motd("two")), 0o644))
	large, err := os.Create(filepath.Join(site, "large"))
	require.NoError(t, err)
	_, err = io.CopyN(large, rand.Reader, size) // gzip cannot compress it
	require.NoError(t, err)
	require.NoError(t, large.Close())
	before := n.down.Load()
	f.releaseOf(f.bundleOf(site))
	arrives := func(part int64) {
		t.Helper()
		require.Eventually(t, func() bool { return n.down.Load()-before > part }, 10*time.Minute, 20*time.Millisecond)
	}
	arrives(size / 3)
	f.drift("web1")
	began := time.Now()
	results, err := f.nodes["web1"].agent.Do(context.Background(), agent.Request{Reason: "test", Mode: agent.Apply})
	require.NoError(t, err)
	require.True(t, results[0].OK(), "%+v", results[0])
	require.Equal(t, "one", f.motd("web1"), "what is here is run meanwhile")
	t.Logf("a run meanwhile took %s", time.Since(began))

	arrives(size * 2 / 3)
	n.shut(true)
	time.Sleep(parts + time.Second) // longer than the timeout for parts of a bundle
	n.shut(false)
	require.Eventually(t, func() bool { return f.motd("web1") == "two" }, 20*time.Minute, 50*time.Millisecond)
	require.Equal(t, signed.Done, f.advance().State)
	down := n.down.Load() - before
	require.Less(t, down, size*3/2+(300<<10), "what had come was not asked for again")
	t.Logf("%d bytes for a bundle of %d", down, size)
}
