// Package node is the part of an agent for a fleet: it follows the releases of its environment,
// carries out jobs, and reports the results. Without a connection it keeps the machine as the
// last release describes it.
//
// Begin with [New]. A node makes no consumer and uses only direct gets of JetStream, so the
// servers keep no state for it. It trusts only documents that operators signed.
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
	"github.com/luaccm/ccm/fleet/retry"
	"github.com/luaccm/ccm/runtime/host"
)

// Options are the options of a node.
type Options struct {
	// Servers are URLs. CA is the file of certificates to trust; "" for those of the system.
	Servers []string
	CA      string
	// Credentials is the file with the JWT and the seed of the node.
	Credentials string
	// SignersText are the trusted signers until the environment names others, in the format of
	// allowed_signers of ssh-keygen(1). SignersFile is its name in messages.
	SignersText, SignersFile string
	// Threshold is the number of signers who must have signed a release; 0 means 1.
	Threshold int
	// StableFacts returns facts without those that change by themselves, which alone are seldom sent; nil for none.
	StableFacts func(map[string]any) map[string]any
	// Labels are the facts in the node's state, as dotted paths.
	Labels []string
	// RevokedAfter is the time for which a node goes on with its last release when it is no longer
	// admitted. After that it only plans; 0 for never.
	RevokedAfter time.Duration
	// StrictIdentity makes the node leave the fleet if another machine with its key began before.
	StrictIdentity bool
	// Directory has the node's memory, Runs the records of runs.
	Directory, Runs string
	// Host writes new credentials.
	Host      *host.Host
	Version   string
	BuildTime time.Time // zero if unknown
	Clock     func() time.Time
	Log       *slog.Logger
	Timing    Timing
}

// Timing has the times between repeated steps, and time limits. Tests make them short.
type Timing struct {
	Heartbeat                     time.Duration
	Control                       time.Duration // between reads of the documents
	Facts                         time.Duration // the least time between two of them
	Batch                         time.Duration // for which events wait for others
	ReconnectLeast, ReconnectMost time.Duration
	ReconnectSpread               time.Duration // over which the nodes of a lost server come back
	Retry                         time.Duration // after a failure
	SpreadReads                   time.Duration // over which nodes read after a reconnect
	Parts                         time.Duration // to wait for parts of a bundle that a replica lacks
	Duplicate                     time.Duration // for which nothing is heard of another machine with the key, until it counts as gone
	// Acknowledgement is how long to wait until the servers have stored a small message, before it is
	// sent again; longer when they are slow. A server that dies takes messages with it, and the others
	// choose a leader in about four seconds.
	Acknowledgement time.Duration
}

// DefaultTiming is the timing of nodes.
var DefaultTiming = Timing{
	Heartbeat: record.Heartbeat, Control: 10 * time.Minute, Facts: 2 * time.Minute, Batch: 250 * time.Millisecond,
	ReconnectLeast: 500 * time.Millisecond, ReconnectMost: 20 * time.Second, ReconnectSpread: 5 * time.Second, Retry: 30 * time.Second, SpreadReads: 10 * time.Second,
	Parts: time.Minute, Duplicate: 24 * time.Hour, Acknowledgement: 4 * time.Second,
}

// Acknowledgements returns the time limit of a node's acknowledgements. It grows to no more than
// twice the usual one: after the loss of a server nothing is stored for about as long.
func (t Timing) Acknowledgements() *retry.Timeout {
	return &retry.Timeout{Min: t.Acknowledgement, Max: 2 * t.Acknowledgement}
}

// DefaultLabels are the default facts in a state.
var DefaultLabels = []string{"os.family", "os.version", "role"}

// A Machine is the part of an agent that a node uses.
type Machine interface {
	// Do carries out runs in their turn.
	Do(ctx context.Context, r agent.Request) ([]*agent.Result, error)
	// Cancel asks the present run to end.
	Cancel() bool
	// Output runs another command of ccm and returns its output.
	Output(ctx context.Context, args ...string) ([]byte, error)
	// FleetChanged is called when Status has changed, without any lock.
	FleetChanged()
}

// Bundles keep the bundles of releases.
type Bundles interface {
	Name() string
	// Take is like that of agent.Source.
	Take() (site agent.Site, release func(), ok bool)
	// Digest is the digest of the present bundle in hexadecimal; "" if there is none.
	Digest() string
	// Install installs a bundle, unless it is installed already.
	Install(ctx context.Context, body io.Reader, digest string) (changed bool, err error)
}

// A Node is a machine in a fleet. It implements agent.Fleet.
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
	_, _ = rand.Read(boot) // never fails
	m := &member{options: o, identity: own, boot: hex.EncodeToString(boot), machine: machine, memory: memory, log: o.Log, acknowledgement: o.Timing.Acknowledgements()}
	n := &Node{member: m}
	m.problems = &problems{clock: o.Clock, log: o.Log, byCode: make(map[record.ProblemCode]problem), onChange: func() {
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
		m.log.Warn("fleet: " + err.Error()) // a full disk must not stop the node
	}
	if _, err := m.trust(); err != nil {
		return nil, err
	}
	return n, nil
}

// Name and Environment are those of the node's credentials.
func (n *Node) Name() string { return n.member.identity.Name }

// Environment returns the environment that the node follows.
func (n *Node) Environment() string { return n.member.identity.Environment }

// Run takes part in the fleet until the context ends.
func (n *Node) Run(ctx context.Context) {
	defer n.member.memory.close()
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	start := func(do func(context.Context)) {
		wg.Go(func() { ; do(ctx) })
	}
	if err := n.connect(); err != nil {
		n.member.log.Error("fleet: " + err.Error())
		n.member.problems.set(record.SignatureRefused, "")
		<-ctx.Done()
		return
	}
	defer n.member.conn.Close()
	poke(n.releases.wake) // a document accepted earlier may still have to be carried out
	start(n.follow)
	start(n.releases.run)
	start(n.jobs.run)
	start(n.presence.run)
	start(n.report.runFacts)
	start(n.outbox.run)
	<-ctx.Done()
}

// follow reads documents and jobs when it is woken, and regularly: messages make it fast, reads
// make it reliable.
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
