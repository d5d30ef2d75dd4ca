package main

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
	"sync/atomic"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/luaccm/ccm/fleet/agent"
	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/fleet/node"
	"github.com/luaccm/ccm/runtime/host"
)

// A machine stands for the agent of one node: its runs do nothing, and its bundles are looked at and
// thrown away.
type machine struct {
	name  string
	dir   string
	node  *node.Node
	watch *watch
	facts []byte
	gate  <-chan struct{} // facts are told when it is closed
	have  atomic.Value    // string: the digest of the bundle
	runs  atomic.Int64
}

// factBytes is how large the facts of a node are.
const factBytes = 4 << 10

// few is how many nodes take the large bundle, and how few a fleet may have.
const few = 1000

// families are systems, of which each has a quarter of the nodes.
var families = []string{"debian", "redhat", "suse", "arch"}

// newMachine issues credentials to a node, and prepares it.
func newMachine(d *identity.Directory, s *servers, i int, allowed string, w *watch, gate <-chan struct{}) (*machine, error) {
	m := &machine{name: fmt.Sprintf("node%05d", i), watch: w, gate: gate}
	m.dir = filepath.Join(s.memory, "nodes", m.name)
	m.have.Store("")
	if err := os.MkdirAll(m.runsDir(), 0o700); err != nil {
		return nil, err
	}
	credentials, err := issue(d, m.name, m.dir)
	if err != nil {
		return nil, err
	}
	role := "web"
	if i < few {
		role = "few"
	}
	facts := map[string]any{"os": map[string]any{"family": families[i%len(families)], "version": "13"}, "role": role, "rest": ""}
	bare, err := json.Marshal(facts)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(m.name))
	facts["rest"] = strings.Repeat(hex.EncodeToString(sum[:]), factBytes/64)[:factBytes-len(bare)]
	if m.facts, err = json.Marshal(facts); err != nil {
		return nil, err
	}
	urls := d.Fleet.URLs()
	m.node, err = node.New(node.Options{
		Servers: append(append([]string{}, urls[i%len(urls):]...), urls[:i%len(urls)]...), CA: d.CA(), Credentials: credentials, SignersText: allowed, SignersFile: "allowed_signers",
		Directory: filepath.Join(m.dir, "fleet"), Runs: m.runsDir(), Host: host.New(host.Options{Clock: host.RealClock{}}), Version: "bench", Clock: time.Now, Log: slog.New(w),
	}, m, m)
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
	n, err := d.Sign(identity.NodeIdentity{Name: name, Environment: environment, Key: key, Recipient: "age1" + strings.Repeat("q", 58)})
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

func (m *machine) runsDir() string { return filepath.Join(m.dir, "runs") }

// run is what an agent does with a node: it runs what there is when it hears of it.
func (m *machine) run(ctx context.Context) {
	go m.node.Run(ctx)
	changed := m.node.Sources()[0].(agent.Notifier).Changed()
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
func (m *machine) Do(_ context.Context, r agent.Request) ([]*agent.Result, error) {
	digest, _ := m.have.Load().(string)
	run := &agent.Run{Request: r, Began: time.Now()}
	run.Source = m.Name()
	result := &agent.Result{Source: m.Name(), Mode: r.Mode, Reason: r.Reason, Digest: "sha256:" + digest, RunID: fmt.Sprintf("run-%d", m.runs.Add(1)), Began: run.Began,
		Counts: map[string]int{"total": 50, "stable": 49, "changed": 1}}
	m.node.RunBegins(run)
	m.node.RunEnded(run, result)
	return []*agent.Result{result}, nil
}

// Cancel implements node.Machine.
func (m *machine) Cancel() bool { return false }

// FleetChanged implements node.Machine.
func (m *machine) FleetChanged() {}

// Output implements node.Machine.
func (m *machine) Output(ctx context.Context, _ ...string) ([]byte, error) {
	select {
	case <-m.gate:
		return m.facts, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Name implements node.Bundles.
func (m *machine) Name() string { return "fleet" }

// Take implements node.Bundles.
func (m *machine) Take() (agent.Site, func(), bool) { return agent.Site{}, func() {}, true }

// Digest implements node.Bundles.
func (m *machine) Digest() string { s, _ := m.have.Load().(string); return s }

// Install implements node.Bundles.
func (m *machine) Install(_ context.Context, body io.Reader, digest string) (bool, error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, body); err != nil {
		return false, err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != digest {
		return false, fmt.Errorf("want the SHA-256 %s, got %s", digest, got)
	}
	m.have.Store(digest)
	m.watch.installed.Add(1)
	return true, nil
}

// A watch counts what nodes log. It is a slog.Handler.
type watch struct {
	connected, released, installed, warnings atomic.Int64
}

// Enabled implements slog.Handler.
func (w *watch) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }

// Handle implements slog.Handler.
func (w *watch) Handle(_ context.Context, r slog.Record) error {
	switch {
	case r.Message == "fleet: connected":
		w.connected.Add(1)
	case strings.HasPrefix(r.Message, "fleet: "+environment+".release "):
		w.released.Add(1)
	case r.Level >= slog.LevelWarn:
		if w.warnings.Add(1) <= 5 {
			fmt.Fprintln(os.Stderr, "a node warns:", r.Message)
		}
	}
	return nil
}

// WithAttrs implements slog.Handler.
func (w *watch) WithAttrs([]slog.Attr) slog.Handler { return w }

// WithGroup implements slog.Handler.
func (w *watch) WithGroup(string) slog.Handler { return w }
