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

	"github.com/luaccm/ccm/fleet/agent"
	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/fleet/record"
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
	// Host writes the credentials when operators have signed the node again.
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

// A Node is a machine in a fleet. It is an agent.Fleet.
type Node struct {
	member    *member
	documents *documents
	releases  *releases
	jobs      *jobs
	presence  *presence
	report    *report
	outbox    *outbox
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
	memory, err := openMemory(o.Directory)
	if err != nil {
		return nil, err
	}
	boot := make([]byte, 8)
	_, _ = rand.Read(boot) // which never fails
	m := &member{options: o, identity: own, boot: hex.EncodeToString(boot), machine: machine, memory: memory, log: o.Log}
	n := &Node{member: m}
	m.problems = &problems{clock: o.Clock, log: o.Log, byCode: make(map[record.ProblemCode]record.Problem), onChange: func() {
		machine.FleetChanged()
		n.report.stateChanged()
	}}
	n.outbox = newOutbox(m)
	n.presence = &presence{member: m, startTime: o.Clock().UTC(), issuer: own.Issuer, wake: make(chan struct{}, 1)}
	n.report = &report{
		member: m, skew: n.presence.clockSkew, factsWake: make(chan struct{}, 1),
		wake: func() { poke(n.outbox.wake) }, decide: func() { poke(n.releases.wake) },
	}
	n.outbox.report = n.report
	n.releases = &releases{member: m, bundles: bundles, holds: n.report.holds, wake: make(chan struct{}, 1), agentWake: make(chan struct{}, 1), updates: make(chan struct{}, 1)}
	n.jobs = &jobs{member: m, report: n.report, outbox: n.outbox, holds: n.report.holds, planOnly: n.planOnly, orders: make(chan []byte, 64)}
	n.documents = &documents{member: m, wake: make(chan struct{}, 1), onChange: func() { poke(n.releases.wake) }}
	n.report.last = memory.last()
	if n.presence.previous, err = memory.addBoot(m.boot); err != nil {
		m.log.Warn("fleet: " + err.Error()) // a full disk is no reason not to go on
	}
	if _, err := m.trust(); err != nil {
		return nil, err
	}
	return n, nil
}

// Name and Environment are those of the node's credentials.
func (n *Node) Name() string { return n.member.identity.Name }

// Environment returns the one that the node follows.
func (n *Node) Environment() string { return n.member.identity.Environment }

// Run takes part in the fleet until the context ends.
func (n *Node) Run(ctx context.Context) {
	defer n.member.memory.close()
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	start := func(do func(context.Context)) {
		wg.Add(1)
		go func() { defer wg.Done(); do(ctx) }()
	}
	if err := n.connect(); err != nil {
		n.member.log.Error("fleet: " + err.Error())
		n.member.problems.set(record.SignatureRefused, "")
		<-ctx.Done()
		return
	}
	defer n.member.conn.Close()
	poke(n.releases.wake) // what was accepted before may still have to be carried out
	start(n.follow)
	start(n.releases.run)
	start(n.jobs.run)
	start(n.presence.run)
	start(n.report.runFacts)
	start(n.outbox.run)
	<-ctx.Done()
}

// follow reads documents and jobs when it is asked to, and from time to time: what is told makes it fast, what
// is read makes it right.
func (n *Node) follow(ctx context.Context) {
	timer := time.NewTimer(n.member.options.Timing.Control)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.documents.wake:
		case <-timer.C:
		}
		timer.Reset(jitter(n.member.options.Timing.Control))
		if !n.member.conn.IsConnected() {
			continue
		}
		n.renew(ctx)
		n.documents.read(ctx)
		n.jobs.readLast(ctx)
		poke(n.releases.wake)
	}
}

// planOnly reports whether the node only plans: it was revoked long ago, or has left the fleet.
func (n *Node) planOnly() bool {
	from := n.member.plansFrom()
	return n.presence.whyLeft() != "" || !from.IsZero() && n.member.options.Clock().After(from)
}

// poke wakes the receiver of a channel.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// jitter returns a duration within ten percent of another.
func jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.9 + 0.2*mathrand.Float64()))
}
