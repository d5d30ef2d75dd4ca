// Package roster reads what the nodes of a fleet say of themselves, from the buckets in which they write
// it. Which nodes there are, and in which environment, operators have issued: nodes are not asked.
//
// Begin with [Read].
package roster

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/subject"
	"github.com/luaccm/ccm/fleet/where"
)

// A Node is what is known of one.
type Node struct {
	Name        string
	Environment string        // that operators issued
	State       *record.State // nil if it wrote none that can be read
	Facts       *record.Facts // nil if they were not asked for, or it wrote none
	// FactsSequence is that of the message with its facts, which tells older from newer ones; 0 if they were
	// not asked for.
	FactsSequence uint64
	Presence      *record.Presence
	// HeartbeatTime is when its last heartbeat was stored, by the clock of the servers; zero if it is silent.
	HeartbeatTime time.Time
	// Problems says which of its documents cannot be read, and why.
	Problems []error
}

// Silent reports whether a node has sent no heartbeat for so long that it counts as away.
func (n *Node) Silent(now time.Time) bool {
	return n.HeartbeatTime.IsZero() || now.Sub(n.HeartbeatTime) > record.Absent
}

// About returns what conditions are asked about.
func (n *Node) About(now time.Time) where.Node {
	x := where.Node{Name: n.Name, Environment: n.Environment, State: n.State, SinceHeartbeat: 1 << 62}
	if !n.HeartbeatTime.IsZero() {
		x.SinceHeartbeat = max(0, now.Sub(n.HeartbeatTime))
	}
	if n.Facts != nil {
		x.Facts = n.Facts.Facts
	}
	return x
}

// Options say what is read.
type Options struct {
	// Environments are the environments of the nodes that operators have approved and not revoked, by name.
	// What others wrote is left out.
	Environments map[string]string
	Environment  string // "" for all
	Facts        bool
}

// Read reads the nodes that have told anything of themselves, sorted by name. A state that speaks of
// another environment than operators issued is not believed, but damaged: its release is none of this one.
func Read(ctx context.Context, nc *nats.Conn, o Options) ([]*Node, error) {
	return ReadAs(ctx, nc, o, func() (map[string]string, error) { return o.Environments, nil })
}

// ReadAs is Read for environments that are read at the same time: issued is asked for them when all else is here.
func ReadAs(ctx context.Context, nc *nats.Conn, o Options, issued func() (map[string]string, error)) ([]*Node, error) {
	var beats []document
	var failed error
	var reading sync.WaitGroup
	reading.Go(func() { beats, failed = readPresence(ctx, nc) })
	said, err := readSaid(ctx, nc, o.Facts)
	reading.Wait()
	by, other := issued()
	if err = cmp.Or(other, err, failed); err != nil {
		return nil, err
	}
	nodes := make(map[string]*Node)
	for _, d := range append(said, beats...) {
		env, ok := by[d.name]
		if !ok || d.name == "" || o.Environment != "" && env != o.Environment {
			continue
		}
		n := nodes[d.name]
		if n == nil {
			n = &Node{Name: d.name, Environment: env}
			nodes[d.name] = n
		}
		n.add(&d)
	}
	return slices.SortedFunc(maps.Values(nodes), func(a, b *Node) int { return strings.Compare(a.Name, b.Name) }), nil
}

// A document is one of what a node says: a state, facts, or a heartbeat. One that was deleted has no name.
type document struct {
	name     string
	state    *record.State
	facts    *record.Facts
	presence *record.Presence
	sequence uint64
	time     time.Time
	err      error // why it cannot be read
}

// add adds what a node says.
func (n *Node) add(d *document) {
	err := d.err
	if err == nil && d.state != nil && d.state.Environment != n.Environment {
		err = fmt.Errorf("its state says that it is of the environment %q: it is of %s", d.state.Environment, n.Environment)
	}
	switch {
	case err != nil:
		n.Problems = append(n.Problems, err)
	case d.state != nil:
		n.State = d.state
	case d.facts != nil:
		n.Facts, n.FactsSequence = d.facts, d.sequence
	case d.presence != nil:
		n.Presence, n.HeartbeatTime = d.presence, d.time
	}
}

// readSaid reads states, and facts if they are asked for.
func readSaid(ctx context.Context, nc *nats.Conn, facts bool) ([]document, error) {
	kinds := "*.state"
	if facts {
		kinds = ">"
	}
	prefix := subject.KV(subject.Nodes, "")
	return direct.Decoded(ctx, nc, direct.Request{Stream: subject.KVStream(subject.Nodes), Filter: prefix + kinds}, func(m *direct.Message) (d document) {
		if m.Deleted() {
			return d
		}
		name, key, _ := strings.Cut(strings.TrimPrefix(m.Subject, prefix), ".")
		d.name, d.sequence = name, m.Sequence
		switch key {
		case "state":
			s, err := record.DecodeState(name, m.Data)
			d.state, d.err = &s, err
		case "facts":
			f, err := record.DecodeFacts(name, m.Data)
			d.facts, d.err = &f, err
		}
		return d
	})
}

// readPresence reads heartbeats.
func readPresence(ctx context.Context, nc *nats.Conn) ([]document, error) {
	prefix := subject.KV(subject.Presence, "")
	return direct.Decoded(ctx, nc, direct.Request{Stream: subject.KVStream(subject.Presence), Filter: prefix + "*"}, func(m *direct.Message) (d document) {
		if m.Deleted() {
			return d
		}
		p, err := record.DecodePresence(m.Data)
		return document{name: strings.TrimPrefix(m.Subject, prefix), presence: &p, time: m.Time, err: err}
	})
}

// Where returns the nodes for which a condition holds. An error of a condition about one node makes it
// none of them, and the first is returned beside the others.
func Where(nodes []*Node, c *where.Condition, now time.Time) (list []*Node, err error) {
	for _, n := range nodes {
		ok, e := c.Holds(n.About(now))
		if e != nil && err == nil {
			err = fmt.Errorf("%s: %w", n.Name, e)
		}
		if ok && e == nil {
			list = append(list, n)
		}
	}
	return list, err
}
