// Package node is what an agent does as a member of a fleet: it follows the releases of its
// environment, carries out jobs, and tells what became of both. Without a connection it keeps the machine
// as the last release describes it.
//
// Begin with [New]. It makes no consumer and asks JetStream for nothing but direct gets: the servers
// keep nothing for a node. It believes only what operators have signed.
package node

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	mathrand "math/rand/v2"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/luaccm/ccm/fleet/agent"
	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/fleet/where"
	"github.com/luaccm/ccm/runtime/host"
)

// Options are those of a node.
type Options struct {
	// Servers are URLs. CA is a file with who certifies them; "" for those of the system.
	Servers []string
	CA      string
	// Credentials is a file with the JWT and the seed of the node.
	Credentials string
	// SignersText are those who are believed until the environment says otherwise, in a text as
	// allowed_signers of ssh-keygen(1). SignersFile is its name, for messages.
	SignersText, SignersFile string
	// Threshold is how many of them must have signed a release; 0 stands for 1.
	Threshold int
	// Labels are facts that the state has with it, as dotted paths.
	Labels []string
	// RevokedAfter is how long a node that is not let in any more goes on with what it has, before
	// it only plans; 0 for ever.
	RevokedAfter time.Duration
	// StrictIdentity has the node leave the fleet if another machine that has its key began before.
	StrictIdentity bool
	// Directory keeps what outlives the process, Runs are the records of runs.
	Directory, Runs string
	// Host writes the credentials when operators have signed the node anew.
	Host    *host.Host
	Version string
	Built   time.Time // zero if it is not known
	Clock   func() time.Time
	Log     *slog.Logger
	Timing  Timing
}

// Timing is how often things are done. Tests make it short.
type Timing struct {
	Heartbeat                     time.Duration
	Control                       time.Duration // between readings of the documents
	Facts                         time.Duration // at least between two of them
	Batch                         time.Duration // how long events wait for others
	ReconnectLeast, ReconnectMost time.Duration
	Retry                         time.Duration // after something failed
	SpreadReads                   time.Duration // of all nodes after a reconnect
	Parts                         time.Duration // how long parts of a bundle are waited for that a replica does not have yet
}

// DefaultTiming is that of nodes.
var DefaultTiming = Timing{
	Heartbeat: record.Heartbeat, Control: 10 * time.Minute, Facts: 2 * time.Minute, Batch: 250 * time.Millisecond,
	ReconnectLeast: 500 * time.Millisecond, ReconnectMost: 20 * time.Second, Retry: 30 * time.Second, SpreadReads: 10 * time.Second,
	Parts: time.Minute,
}

// DefaultLabels are the facts that a state has with it.
var DefaultLabels = []string{"os.family", "os.version", "role"}

// A Machine is what a node has of its agent.
type Machine interface {
	// Do has runs take place in their turn.
	Do(ctx context.Context, r agent.Request) ([]*agent.Result, error)
	// Cancel asks the run under way to end.
	Cancel() bool
	// Output runs another command of ccm and returns what it writes.
	Output(ctx context.Context, args ...string) ([]byte, error)
	// FleetChanged is called when Status has changed, with nothing locked.
	FleetChanged()
}

// Bundles keep what releases have brought here.
type Bundles interface {
	Name() string
	// Take is as agent.Source has it.
	Take() (site agent.Site, release func(), ok bool)
	// Digest is that of the bundle that is run, in hexadecimal; "" if there is none.
	Digest() string
	// Install brings a bundle here, unless it is here already.
	Install(ctx context.Context, body io.Reader, digest string) (changed bool, err error)
}

// A Node is a member of a fleet. It is an agent.Fleet.
type Node struct {
	o        Options
	identity identity.NodeIdentity
	machine  Machine
	bundles  Bundles
	memory   *memory
	log      *slog.Logger
	boot     string // of this process
	before   string // that of the process before, until the first heartbeat; for the goroutine that sends those
	started  time.Time

	nc        *nats.Conn
	control   chan struct{} // the documents are to be read
	decide    chan struct{} // they have changed, or something that matters for them
	orders    chan []byte   // jobs as they came
	changed   chan struct{} // for the agent: it is to ask
	arrived   chan struct{} // there is another release
	factsWake chan struct{}
	beatNow   chan struct{}
	outbox    *outbox

	mu        sync.Mutex
	facts     map[string]any
	last      *record.State // as it was sent last, or is to be
	problems  map[record.ProblemCode]record.Problem
	stateSent string // digest of what was sent
	skew      time.Duration
	running   bool
	issuer    string // the key that signed the JWT in use
	job       string // the id of the job whose run is under way
	left      string // why the node has left the fleet; "" if it has not
}

// New prepares a node. It does not connect.
func New(o Options, machine Machine, bundles Bundles) (*Node, error) {
	if o.Timing == (Timing{}) {
		o.Timing = DefaultTiming
	}
	if len(o.Labels) == 0 {
		o.Labels = DefaultLabels
	}
	own, err := identity.ReadCredentials(o.Credentials)
	if err != nil {
		return nil, fmt.Errorf("credentials: %w", err)
	}
	m, err := openMemory(o.Directory)
	if err != nil {
		return nil, err
	}
	boot := make([]byte, 8)
	_, _ = rand.Read(boot) // which never fails
	n := &Node{
		o: o, identity: own, machine: machine, bundles: bundles, memory: m, log: o.Log, boot: hex.EncodeToString(boot), started: o.Clock().UTC(),
		control: make(chan struct{}, 1), decide: make(chan struct{}, 1), orders: make(chan []byte, 64), changed: make(chan struct{}, 1), arrived: make(chan struct{}, 1), factsWake: make(chan struct{}, 1), beatNow: make(chan struct{}, 1),
		problems: make(map[record.ProblemCode]record.Problem),
	}
	n.issuer = own.Issuer
	n.before = m.x.Boot
	if err := m.update(func(x *remembered) { x.Boot = n.boot }); err != nil {
		n.log.Warn("fleet: " + err.Error()) // a full disk is no reason not to go on
	}
	n.outbox = newOutbox(n)
	if _, err := n.trust(); err != nil {
		return nil, err
	}
	return n, nil
}

// Name and Environment are those of the node's credentials.
func (n *Node) Name() string { return n.identity.Name }

// Environment returns the one that the node follows.
func (n *Node) Environment() string { return n.identity.Environment }

// Run takes part in the fleet until the context ends.
func (n *Node) Run(ctx context.Context) {
	defer n.memory.close()
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	start := func(do func(context.Context)) {
		wg.Add(1)
		go func() { defer wg.Done(); do(ctx) }()
	}
	if err := n.connect(); err != nil {
		n.log.Error("fleet: " + err.Error())
		n.problem(record.SignatureRefused, "")
		<-ctx.Done()
		return
	}
	defer n.nc.Close()
	poke(n.decide) // what was accepted before may still have to be carried out
	start(n.follow)
	start(n.carryOutReleases)
	start(n.carryOutJobs)
	start(n.beat)
	start(n.tellFacts)
	start(n.outbox.run)
	<-ctx.Done()
}

// poke has whoever waits for a channel wake up.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// now returns what the node believes the time to be.
func (n *Node) now() time.Time {
	t := signed.Time{Clock: n.o.Clock, Built: n.o.Built, Newest: n.memory.newest()}
	return t.Now()
}

// sleep waits, or until the context ends, and reports whether it does not.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// jitter returns a duration within ten percent of another.
func jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.9 + 0.2*mathrand.Float64()))
}

// problem notes what the node could not do, or did not believe; an empty message says that it is over.
func (n *Node) problem(code record.ProblemCode, message string) {
	n.note(record.Problem{Code: code, Message: message})
}

// problemOf is problem for what a release is the matter of.
func (n *Node) problemOf(r *signed.Release, code record.ProblemCode, message string) {
	n.note(record.Problem{Code: code, Message: message, Release: r.Version, Bundle: r.Bundle})
}

// note notes a problem. One of a release is not hidden by one that is of none: a job that was refused is told as
// such, too.
func (n *Node) note(p record.Problem) {
	code, message := p.Code, p.Message
	p.Since = n.o.Clock().UTC().Truncate(time.Second)
	n.mu.Lock()
	old, had := n.problems[code]
	switch {
	case message != "" && old.Release != 0 && p.Release == 0:
		n.mu.Unlock()
		return
	case message == "" && had:
		delete(n.problems, code)
	case message != "" && (old.Message != message || old.Release != p.Release || old.Bundle != p.Bundle):
		n.problems[code] = p
	default:
		n.mu.Unlock()
		return
	}
	n.mu.Unlock()
	if message != "" {
		n.log.Warn(fmt.Sprintf("fleet: %s: %s", code, message))
	}
	n.machine.FleetChanged()
	n.tellState()
}

// about returns what conditions are asked about.
func (n *Node) about() where.Node {
	n.mu.Lock()
	defer n.mu.Unlock()
	x := where.Node{Name: n.identity.Name, Environment: n.identity.Environment, Facts: n.facts}
	s := n.stateLocked()
	x.State = &s
	return x
}

// holds answers a condition about this node.
func (n *Node) holds(text string) (bool, error) {
	c, err := where.Parse(text)
	if err != nil {
		return false, err
	}
	return c.Holds(n.about())
}
