// Package roster reads what the nodes of a fleet say of themselves, from the buckets in which they write
// it. Which nodes there are, and in which environment, operators have issued: nodes are not asked.
//
// Begin with [Read].
package roster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
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
	// Seen is when its last heartbeat was stored, by the clock of the servers; zero if it is silent.
	Seen time.Time
	// Damaged says which of its documents cannot be read, and why.
	Damaged []error
}

// Silent reports whether a node has sent no heartbeat for so long that it counts as away.
func (n *Node) Silent(now time.Time) bool {
	return n.Seen.IsZero() || now.Sub(n.Seen) > record.Absent
}

// About returns what conditions are asked about.
func (n *Node) About(now time.Time) where.Node {
	x := where.Node{Name: n.Name, Environment: n.Environment, State: n.State, Seen: 1 << 62}
	if !n.Seen.IsZero() {
		x.Seen = max(0, now.Sub(n.Seen))
	}
	if n.Facts != nil {
		x.Facts = n.Facts.Facts
	}
	return x
}

// Options say what is read.
type Options struct {
	// Issued are the environments of the nodes that operators have approved and not revoked, by name.
	// What others wrote is left out.
	Issued      map[string]string
	Environment string // "" for all
	Facts       bool
}

// Read reads the nodes that have told anything of themselves, sorted by name. A state that speaks of
// another environment than operators issued is not believed, but damaged: its release is none of this one.
func Read(ctx context.Context, nc *nats.Conn, o Options) ([]*Node, error) {
	nodes := make(map[string]*Node)
	get := func(name string) *Node { // nil if it is not wanted
		env, ok := o.Issued[name]
		if !ok || o.Environment != "" && env != o.Environment {
			return nil
		}
		if nodes[name] == nil {
			nodes[name] = &Node{Name: name, Environment: env}
		}
		return nodes[name]
	}
	kinds := "*.state"
	if o.Facts {
		kinds = ">"
	}
	stream := subject.KVStream(subject.Nodes)
	prefix := subject.KV(subject.Nodes, "")
	err := direct.All(ctx, nc, direct.Request{Stream: stream, Filter: prefix + kinds}, func(m *direct.Message) error {
		name, key, _ := strings.Cut(strings.TrimPrefix(m.Subject, prefix), ".")
		n := get(name)
		if m.Deleted() || n == nil {
			return nil
		}
		switch key {
		case "state":
			s, err := record.DecodeState(name, m.Data)
			if err == nil && s.Environment != n.Environment {
				err = fmt.Errorf("its state says that it is of the environment %q: it is of %s", s.Environment, n.Environment)
			}
			if err != nil {
				n.Damaged = append(n.Damaged, err)
				return nil
			}
			n.State = &s
		case "facts":
			f, err := record.DecodeFacts(name, m.Data)
			if err != nil {
				n.Damaged = append(n.Damaged, err)
				return nil
			}
			n.Facts, n.FactsSequence = &f, m.Sequence
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	prefix = subject.KV(subject.Presence, "")
	err = direct.All(ctx, nc, direct.Request{Stream: subject.KVStream(subject.Presence), Filter: prefix + "*"}, func(m *direct.Message) error {
		name := strings.TrimPrefix(m.Subject, prefix)
		n := get(name)
		if m.Deleted() || n == nil {
			return nil
		}
		p, err := record.DecodePresence(m.Data)
		if err != nil {
			n.Damaged = append(n.Damaged, err)
			return nil
		}
		n.Presence, n.Seen = &p, m.Time
		return nil
	})
	if err != nil {
		return nil, err
	}
	return slices.SortedFunc(maps.Values(nodes), func(a, b *Node) int { return strings.Compare(a.Name, b.Name) }), nil
}

// Where returns the nodes for which a condition holds. An error of a condition about one node makes it
// none of them, and the first is returned beside the others.
func Where(nodes []*Node, c *where.Condition, now time.Time) (list []*Node, err error) {
	for _, n := range nodes {
		ok, e := c.Holds(n.About(now))
		if e != nil && err == nil {
			err = e
		}
		if ok && e == nil {
			list = append(list, n)
		}
	}
	return list, err
}
