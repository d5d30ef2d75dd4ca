package fleet_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/cluster"
	"github.com/luaccm/ccm/fleet/record"
)

// newThree starts a fleet with three nats-servers as ccm fleet init configures them, with TLS and a key for each
// node. Nodes are real agents with their own roots. The test runs in parallel with others.
func newThree(t *testing.T) *fleet {
	t.Parallel()
	scratch, err := os.MkdirTemp("", "three-")
	require.NoError(t, err)
	l := startLab(t, scratch, 3)
	t.Cleanup(l.end)
	return l.fleet(t)
}

// fleet returns a fleet with the lab's servers.
func (l *lab) fleet(t testing.TB) *fleet {
	d := l.directory(t)
	f := &fleet{t: t, dir: t.TempDir(), nodes: map[string]*member{}, lab: l, urls: d.Fleet.URLs()}
	f.eventually(func() bool {
		c, err := cluster.Connect(d)
		if err == nil {
			f.nc = c.Conn
		}
		return err == nil
	})
	t.Cleanup(f.nc.Close)
	f.operator()
	return f
}

// killAll kills all servers, and startAll starts them.
func (l *lab) killAll() {
	for _, port := range l.ports {
		l.kill(port)
	}
}

func (l *lab) startAll(t testing.TB) {
	for _, port := range l.ports {
		l.start(t, port)
	}
}

// settled waits until all servers have all streams.
func (f *fleet) settled() {
	f.eventually(func() bool { return f.lab.unsettled(f.t, f.nc) == nil })
}

// leader returns the port of the server that leads a stream.
func (f *fleet) leader(stream string) (port string) {
	js, err := jetstream.New(f.nc)
	require.NoError(f.t, err)
	f.eventually(func() bool {
		s, err := js.Stream(f.t.Context(), stream)
		if err != nil || s.CachedInfo().Cluster == nil {
			return false
		}
		name := s.CachedInfo().Cluster.Leader
		for _, p := range f.lab.ports {
			if name == "127.0.0.1-"+p {
				port = p
			}
		}
		return port != ""
	})
	return port
}

// state returns the stored state of a node; an empty one if there is none.
func (f *fleet) state(name string) record.State {
	nodes, err := f.read()
	if err != nil {
		return record.State{}
	}
	for _, n := range nodes {
		if n.Name == name && n.State != nil {
			return *n.State
		}
	}
	return record.State{}
}

// problem returns a node's problem of a kind; "" if it has none.
func (f *fleet) problem(name string, code record.ProblemCode) string {
	for _, p := range f.state(name).Problems {
		if p.Code == code {
			return p.Message
		}
	}
	return ""
}

// runs reports whether the last run of all nodes was of a release, and successful.
func (f *fleet) runs(version int64) bool {
	for name := range f.nodes {
		if s := f.state(name); s.Release != version || s.Outcome == "failed" || s.Outcome == "" {
			return false
		}
	}
	return true
}

// again restarts the agent of a node.
func (f *fleet) again(name string) {
	f.nodes[name].stop()
	f.start(name)
}

// drift changes the file in the site of a node.
func (f *fleet) drift(name string) {
	require.NoError(f.t, os.WriteFile(filepath.Join(f.nodes[name].root, "etc/motd"), []byte("by hand"), 0o644))
}

// copyStore copies the data of all servers.
func (l *lab) copyStore(t testing.TB, from, to string) {
	require.NoError(t, os.RemoveAll(to))
	require.NoError(t, os.CopyFS(to, os.DirFS(from)))
}

func (l *lab) store() string { return filepath.Join(l.scratch, "store") }
