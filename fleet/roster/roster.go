// Package roster reads the nodes' data about themselves, from the buckets to which they write. The
// list of nodes and their environments is not from the nodes but issued by operators.
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
	"github.com/luaccm/ccm/runtime/diag"
)

// A Node has the data of one node.
type Node struct {
	Name        string
	Environment string        // issued by operators
	State       *record.State // nil if there is none, or it cannot be read
	Facts       *record.Facts // nil if they were not requested, or there are none
	// FactsSequence is the sequence of the message with the facts, which is higher for newer facts;
	// 0 if they were not requested.
	FactsSequence uint64
	Presence      *record.Presence
	// HeartbeatTime is when the last heartbeat was stored, by the servers' clock; zero if there is
	// none.
	HeartbeatTime time.Time
	// Problems are the errors of the node's documents that cannot be read.
	Problems []error
}

// Silent reports whether a node has sent no heartbeat for so long that it counts as away.
func (n *Node) Silent(now time.Time) bool {
	return n.HeartbeatTime.IsZero() || now.Sub(n.HeartbeatTime) > record.Absent
}

// HeardOf reports whether a node has ever reported. One that has not was approved, but its agent
// never began.
func (n *Node) HeardOf() bool {
	return n.State != nil || !n.HeartbeatTime.IsZero() || len(n.Problems) > 0
}

// About returns the node in the form for conditions.
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

// Options choose the nodes and data to read.
type Options struct {
	// Environments are the environments of the nodes that operators have approved and not revoked,
	// by name. Data of other nodes are left out.
	Environments map[string]string
	Environment  string // "" for all
	Facts        where.Facts
	NoStates     bool // leave out states
	NoHeartbeats bool // leave out heartbeats
	// Approved adds the approved nodes that have written no data.
	Approved bool
}

// Read reads the nodes that have written any data, sorted by name, and others only by Approved. A state with another environment
// than the issued one is a problem, because its release belongs to that environment.
func Read(ctx context.Context, nc *nats.Conn, o Options) ([]*Node, error) {
	return ReadAs(ctx, nc, o, func() (map[string]string, error) { return o.Environments, nil })
}

// ReadAs is Read for environments that are read concurrently: it calls issued for them after it has
// read all else.
func ReadAs(ctx context.Context, nc *nats.Conn, o Options, issued func() (map[string]string, error)) ([]*Node, error) {
	var beats []document
	var failed error
	var reading sync.WaitGroup
	if !o.NoHeartbeats {
		reading.Go(func() { beats, failed = readPresence(ctx, nc) })
	}
	said, err := readSaid(ctx, nc, o)
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
	if o.Approved {
		for name, env := range by {
			if nodes[name] == nil && (o.Environment == "" || env == o.Environment) {
				nodes[name] = &Node{Name: name, Environment: env}
			}
		}
	}
	return slices.SortedFunc(maps.Values(nodes), func(a, b *Node) int { return strings.Compare(a.Name, b.Name) }), nil
}

// A document is one of a node's documents: a state, facts, or a heartbeat. A deleted one has no
// name.
type document struct {
	name     string
	state    *record.State
	facts    *record.Facts
	presence *record.Presence
	sequence uint64
	time     time.Time
	err      error // why it cannot be read
}

// add adds a document of the node.
func (n *Node) add(d *document) {
	err := d.err
	if err == nil && d.state != nil && d.state.Environment != n.Environment {
		err = fmt.Errorf("state: %w", diag.Expected("the environment %s", n.Environment).Got("%q", d.state.Environment))
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

// readSaid reads the states and facts that are requested.
func readSaid(ctx context.Context, nc *nats.Conn, o Options) ([]document, error) {
	kinds := ">"
	switch {
	case o.NoStates && o.Facts.None():
		return nil, nil
	case o.NoStates:
		kinds = "*.facts"
	case o.Facts.None():
		kinds = "*.state"
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
			f, err := decodeFacts(name, m.Data, o.Facts)
			d.facts, d.err = &f, err
		}
		return d
	})
}

func decodeFacts(node string, text []byte, wanted where.Facts) (record.Facts, error) {
	if wanted.All {
		return record.DecodeFacts(node, text)
	}
	return record.DecodeSomeFacts(node, text, wanted.Names)
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

// Where returns the nodes for which a condition holds. A node with an error of the condition is
// left out, and the first error is returned with the other nodes.
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
