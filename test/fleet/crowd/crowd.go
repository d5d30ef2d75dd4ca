// Package crowd simulates many nodes of a fleet, each with a key and a connection of its own. A [Machine] runs the code
// of the agent's fleet; only the machine behind it is none. A [Connection] has only the part of it that servers see.
//
// Begin with [New], [NewConnection] and [Member].
package crowd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/luaccm/ccm/fleet/agent"
	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/fleet/node"
	"github.com/luaccm/ccm/runtime/host"
)

// A Machine stands for the agent of one node: its runs do nothing, and its bundles are looked at and
// thrown away.
type Machine struct {
	Name string
	Dir  string
	Node *node.Node

	watch *Watch
	facts []byte
	gate  <-chan struct{} // facts are told when it is closed
	have  atomic.Value    // string: the digest of the bundle
	runs  atomic.Int64
}

// A Member is one of the crowd.
type Member interface {
	NodeName() string
	// Run takes part in the fleet until the context ends.
	Run(ctx context.Context)
	// Tell has the events of a round told.
	Tell(ctx context.Context, round int) error
	// HasReported reports whether the servers have acknowledged those of all rounds.
	HasReported() bool
}

// Environment is the one that all of them follow.
const Environment = "prod"

// Options are those of many nodes.
type Options struct {
	Fleet  *identity.Directory
	Memory string // a directory for all of them
	// Allowed are the signers, as a text.
	Allowed string
	Watch   *Watch
	// Gate is closed when facts may be told.
	Gate <-chan struct{}
}

// factBytes is how large the facts of a node are.
const factBytes = 4 << 10

// Few is how many nodes take the large bundle, and how few a fleet may have.
const Few = 1000

// families are systems, of which each has a quarter of the nodes.
var families = []string{"debian", "redhat", "suse", "arch"}

// prepared is what each of the crowd has.
type prepared struct {
	name, dir, credentials string
	servers                []string // the first one differs
	facts                  []byte
	labels                 map[string]string
}

// prepare issues credentials to a node with a number, and makes its directory and its facts.
func prepare(o Options, i int) (*prepared, error) {
	p := &prepared{name: fmt.Sprintf("node%05d", i)}
	p.dir = filepath.Join(o.Memory, "nodes", p.name)
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return nil, err
	}
	var err error
	if p.credentials, err = issue(o.Fleet, p.name, p.dir); err != nil {
		return nil, err
	}
	role := "web"
	if i < Few {
		role = "few"
	}
	family := families[i%len(families)]
	p.labels = map[string]string{"os.family": family, "os.version": "13", "role": role}
	facts := map[string]any{"os": map[string]any{"family": family, "version": "13"}, "role": role, "rest": ""}
	bare, err := json.Marshal(facts)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(p.name))
	facts["rest"] = strings.Repeat(hex.EncodeToString(sum[:]), factBytes/64)[:factBytes-len(bare)]
	if p.facts, err = json.Marshal(facts); err != nil {
		return nil, err
	}
	urls := o.Fleet.Fleet.URLs()
	p.servers = append(append([]string{}, urls[i%len(urls):]...), urls[:i%len(urls)]...)
	return p, nil
}

// New issues credentials to a node with a number, and prepares it.
func New(o Options, i int) (*Machine, error) {
	p, err := prepare(o, i)
	if err != nil {
		return nil, err
	}
	m := &Machine{Name: p.name, Dir: p.dir, facts: p.facts, watch: o.Watch, gate: o.Gate}
	m.have.Store("")
	if err := os.MkdirAll(m.RunsDir(), 0o700); err != nil {
		return nil, err
	}
	m.Node, err = node.New(node.Options{
		Servers: p.servers, CA: o.Fleet.CA(), Credentials: p.credentials, SignersText: o.Allowed, SignersFile: "allowed_signers",
		Directory: filepath.Join(m.Dir, "fleet"), Runs: m.RunsDir(), Host: host.New(host.Options{Clock: host.RealClock{}}), Version: "bench", Clock: time.Now, Log: slog.New(o.Watch),
	}, m, bundles{m})
	return m, err
}

// issue makes the key of a node, approves it in the directory, and writes its credentials.
func issue(d *identity.Directory, name, dir string) (file string, err error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return "", err
	}
	key, err := pair.PublicKey()
	if err != nil {
		return "", err
	}
	n, err := d.Sign(identity.NodeIdentity{Name: name, Environment: Environment, Key: key, Recipient: "age1" + strings.Repeat("q", 58)})
	if err != nil {
		return "", err
	}
	if err := d.SaveNode(n); err != nil {
		return "", err
	}
	text, err := identity.Credentials(n.JWT, pair)
	if err != nil {
		return "", err
	}
	file = filepath.Join(dir, "node.creds")
	return file, os.WriteFile(file, text, 0o600)
}

// NodeName implements Member.
func (m *Machine) NodeName() string { return m.Name }

// RunsDir has the records of its runs.
func (m *Machine) RunsDir() string { return filepath.Join(m.Dir, "runs") }

// Run is what an agent does with a node: it runs what there is when it hears of it.
func (m *Machine) Run(ctx context.Context) {
	var ended sync.WaitGroup
	defer ended.Wait()
	ended.Go(func() { m.Node.Run(ctx) })
	changed := m.Node.Sources()[0].(agent.Notifier).Changed()
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
			_, _ = m.Do(ctx, agent.Request{Reason: "release", Mode: agent.Apply})
		}
	}
}

// Do implements node.Machine.
func (m *Machine) Do(_ context.Context, r agent.Request) ([]*agent.Result, error) {
	digest, _ := m.have.Load().(string)
	run := &agent.Run{Request: r, Began: time.Now()}
	run.Source = sourceName
	result := &agent.Result{Source: sourceName, Mode: r.Mode, Reason: r.Reason, Digest: "sha256:" + digest, RunID: fmt.Sprintf("run-%d", m.runs.Add(1)), Began: run.Began,
		Counts: map[string]int{"total": 50, "stable": 49, "changed": 1}}
	m.Node.RunBegins(run)
	m.Node.RunEnded(run, result)
	return []*agent.Result{result}, nil
}

// Cancel implements node.Machine.
func (m *Machine) Cancel() bool { return false }

// FleetChanged implements node.Machine.
func (m *Machine) FleetChanged() {}

// Output implements node.Machine.
func (m *Machine) Output(ctx context.Context, _ ...string) ([]byte, error) {
	select {
	case <-m.gate:
		return m.facts, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// bundles are those of a machine. A Machine has a name of its own.
type bundles struct{ *Machine }

// sourceName is that of what releases bring.
const sourceName = "fleet"

// Name implements node.Bundles.
func (bundles) Name() string { return sourceName }

// Take implements node.Bundles.
func (m *Machine) Take() (agent.Site, func(), bool) { return agent.Site{}, func() {}, true }

// Digest implements node.Bundles.
func (m *Machine) Digest() string { s, _ := m.have.Load().(string); return s }

// Install implements node.Bundles.
func (m *Machine) Install(_ context.Context, body io.Reader, digest string) (bool, error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, body); err != nil {
		return false, err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != digest {
		return false, fmt.Errorf("want the SHA-256 %s, got %s", digest, got)
	}
	m.have.Store(digest)
	m.watch.Installed.Add(1)
	return true, nil
}

// A Watch counts what nodes log. It is a slog.Handler.
type Watch struct {
	Connected, Released, Installed, Warnings atomic.Int64
}

// Enabled implements slog.Handler.
func (w *Watch) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }

// Handle implements slog.Handler.
func (w *Watch) Handle(_ context.Context, r slog.Record) error {
	switch {
	case r.Message == "fleet: connected":
		w.Connected.Add(1)
	case strings.HasPrefix(r.Message, "fleet: "+Environment+".release "):
		w.Released.Add(1)
	case r.Level >= slog.LevelWarn:
		w.warn(r.Message)
	}
	return nil
}

// warn prints the first warnings of nodes.
func (w *Watch) warn(message string) {
	if w.Warnings.Add(1) <= 5 {
		fmt.Fprintln(os.Stderr, "a node warns:", message)
	}
}

// WithAttrs implements slog.Handler.
func (w *Watch) WithAttrs([]slog.Attr) slog.Handler { return w }

// WithGroup implements slog.Handler.
func (w *Watch) WithGroup(string) slog.Handler { return w }
