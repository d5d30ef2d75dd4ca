// Package crowd simulates many nodes of a fleet, each with its own key and connection. A [Machine] runs the agent's
// code for fleets on a simulated machine. A [Connection] is only the part that servers see.
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

// A Machine simulates the agent of one node: its runs do nothing, and its bundles are checked and discarded.
type Machine struct {
	Name string
	Dir  string
	Node *node.Node

	watch *Watch
	facts []byte
	gate  <-chan struct{} // closed when facts may be sent
	have  atomic.Value    // string: digest of the bundle
	runs  atomic.Int64
}

// A Member is one node of the crowd.
type Member interface {
	NodeName() string
	// Run takes part in the fleet until the context ends.
	Run(ctx context.Context)
	// Tell sends the events of a round.
	Tell(ctx context.Context, round int) error
	// HasReported reports whether the servers have acknowledged the events of all rounds.
	HasReported() bool
}

// Environment is the environment of all members.
const Environment = "prod"

// Options are the options of all members.
type Options struct {
	Fleet  *identity.Directory
	Memory string // a directory for all of them
	// Allowed is the text of allowed_signers.
	Allowed string
	Watch   *Watch
	// Gate is closed when facts may be sent.
	Gate <-chan struct{}
}

// FactBytes is the size of a node's facts.
const FactBytes = 4 << 10

// Few is the number of nodes that take the large bundle, and the least size of a fleet.
const Few = 1000

// StageOfFew is the stage of a release with these nodes.
const StageOfFew = `labels.role == "` + roleOfFew + `"`

const roleOfFew = "few"

// families are operating systems; each is that of a quarter of the nodes.
var families = []string{"debian", "redhat", "suse", "arch"}

// prepared has the common parts of all kinds of members.
type prepared struct {
	name, dir, credentials string
	servers                []string // in an order that differs between members
	facts                  []byte
	labels                 map[string]string
}

// prepare issues credentials to node number i, and makes its directory and its facts.
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
		role = roleOfFew
	}
	family := families[i%len(families)]
	p.labels = map[string]string{"os.family": family, "os.version": "13", "role": role}
	facts := map[string]any{"os": map[string]any{"family": family, "version": "13"}, "role": role, "rest": ""}
	bare, err := json.Marshal(facts)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(p.name))
	facts["rest"] = strings.Repeat(hex.EncodeToString(sum[:]), FactBytes/64)[:FactBytes-len(bare)]
	if p.facts, err = json.Marshal(facts); err != nil {
		return nil, err
	}
	urls := o.Fleet.Fleet.URLs()
	p.servers = append(append([]string{}, urls[i%len(urls):]...), urls[:i%len(urls)]...)
	return p, nil
}

// New issues credentials to node number i, and prepares it.
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

// issue makes the key of a node, approves it in the fleet's directory, and writes its credentials.
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

// RunsDir returns the directory with the records of its runs.
func (m *Machine) RunsDir() string { return filepath.Join(m.Dir, "runs") }

// Run does the agent's work for a node: it runs a new release.
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

// bundles implements node.Bundles for a Machine, whose Name is the node's.
type bundles struct{ *Machine }

// sourceName is the name of the source with releases.
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
		return false, &agent.DigestError{Want: digest, Have: got}
	}
	m.have.Store(digest)
	m.watch.Installed.Add(1)
	return true, nil
}

// A Watch counts log messages of nodes. It is a slog.Handler.
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
