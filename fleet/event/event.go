// Package event reads what nodes of a fleet tell of their runs: the lines of ccm run --output json, and
// what became of jobs.
//
// Begin with [Read] and [Follow]. Lines come from nodes and are no more than what these claim.
package event

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"
	"github.com/nats-io/nats.go"

	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/subject"
)

// patience is how long the servers may take to listen, and pause how long it is waited before what they did not answer is
// asked again.
const (
	patience = 10 * time.Second
	pause    = time.Second
)

// A Line is what a node told of one resource, run or job.
type Line struct {
	Node, Environment string
	Fields            map[string]any
	Text              []byte // JSON, with node and environment
}

// A Filter says which lines are wanted.
type Filter struct {
	Environment string   // "" for all
	Nodes       []string // nil for all
	Since       time.Time
	Condition   *Condition // nil for all
}

// A Condition asks about the fields of a line: outcome == "failed".
type Condition struct{ program *vm.Program }

// ParseCondition reads one.
func ParseCondition(text string) (*Condition, error) {
	program, err := expr.Compile(text, expr.AsBool(), expr.AllowUndefinedVariables())
	if err != nil {
		return nil, fmt.Errorf("the condition cannot be read: %w", err)
	}
	return &Condition{program}, nil
}

func (c *Condition) holds(fields map[string]any) bool {
	if c == nil {
		return true
	}
	out, err := expr.Run(c.program, fields)
	return err == nil && out == true // a line that lacks what is asked about is none that is wanted
}

// subject returns what has the lines that are wanted.
func (f *Filter) subject() string {
	env, node := "*", "*"
	if f.Environment != "" {
		env = f.Environment
	}
	if len(f.Nodes) == 1 {
		node = f.Nodes[0]
	}
	return subject.Event(env, node)
}

// A reader passes on lines, each once.
type reader struct {
	f    Filter
	do   func(*Line) error
	done error // what do returned
	seen map[string]bool
	ids  []string // in the order in which they came
}

// remembered is how many ids are known, so that what was sent twice is passed on once.
const remembered = 200_000

func (r *reader) message(on string, data []byte) error {
	env, node, ok := nodeOf(on)
	if !ok {
		return nil
	}
	if len(r.f.Nodes) > 0 && !slices.Contains(r.f.Nodes, node) {
		return nil
	}
	for text := range bytes.Lines(data) {
		var fields map[string]any
		if json.Unmarshal(text, &fields) != nil || fields == nil {
			continue
		}
		if id := idOf(fields); id != "" && r.known(node+"\x00"+id) {
			continue
		}
		fields["node"], fields["environment"] = node, env
		if !r.f.Condition.holds(fields) {
			continue
		}
		line := &Line{Node: node, Environment: env, Fields: fields}
		line.Text = append(fmt.Appendf(nil, `{"node":%q,"environment":%q`, node, env), withoutBrace(text)...)
		if r.done = r.do(line); r.done != nil {
			return r.done
		}
	}
	return nil
}

// idOf returns what names a line among those of its node; "" if nothing does.
func idOf(fields map[string]any) string {
	if id, ok := fields["event_id"].(string); ok {
		return id
	}
	if job, ok := fields["job"].(string); ok {
		return fmt.Sprint("job ", job, " ", fields["state"], " ", fields["timestamp"])
	}
	if run, ok := fields["run_id"].(string); ok {
		return "run " + run
	}
	return ""
}

// withoutBrace returns an object as it goes on behind other fields.
func withoutBrace(text []byte) []byte {
	text = bytes.TrimSpace(text)[1:]
	if rest := bytes.TrimSpace(text); len(rest) > 0 && rest[0] == '}' {
		return rest
	}
	return append([]byte(","), text...)
}

func (r *reader) known(id string) bool {
	if r.seen[id] {
		return true
	}
	if len(r.ids) == remembered {
		delete(r.seen, r.ids[0])
		r.ids = r.ids[1:]
	}
	r.seen[id] = true
	r.ids = append(r.ids, id)
	return false
}

// Read calls do for the lines that are stored, oldest first.
func Read(ctx context.Context, nc *nats.Conn, f Filter, do func(*Line) error) error {
	return (&reader{f: f, do: do, seen: make(map[string]bool)}).stored(ctx, nc)
}

func (r *reader) stored(ctx context.Context, nc *nats.Conn) error {
	return direct.All(ctx, nc, direct.Request{Stream: subject.Events, Filter: r.f.subject(), Since: r.f.Since}, func(m *direct.Message) error {
		return r.message(m.Subject, m.Data)
	})
}

// Follow is Read, and then calls do for what comes, until the context ends. It makes no consumer: what comes
// while there is no connection is read from the store.
func Follow(ctx context.Context, nc *nats.Conn, f Filter, do func(*Line) error) error {
	r := &reader{f: f, do: do, seen: make(map[string]bool)}
	messages, stop, err := direct.Listen(nc, f.subject())
	if err != nil {
		return err
	}
	defer stop()
	if err := nc.FlushTimeout(patience); err != nil {
		return err
	}
	if !f.Since.IsZero() {
		if err := r.stored(ctx, nc); err != nil {
			return err
		}
	}
	lost := nc.StatusChanged(nats.CONNECTED)
	last := time.Now()
	// again is when what was stored meanwhile is read: servers that are back may have no leader yet. It is at the beginning,
	// too, for what came when not all servers knew who listens, and the replica that was read lacked it.
	var again <-chan time.Time
	if !f.Since.IsZero() {
		if recent := last.Add(-time.Minute); r.f.Since.Before(recent) {
			r.f.Since = recent
		}
		again = time.After(pause)
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case m := <-messages:
			last = time.Now()
			if err := r.message(m.Subject, m.Data); err != nil {
				return err
			}
		case _, ok := <-lost:
			if !ok {
				lost = nil
				continue
			}
			r.f.Since = last.Add(-time.Minute)
			again = time.After(0)
		case <-again:
			again = nil
			if err := r.stored(ctx, nc); r.done != nil {
				return err
			} else if err != nil {
				again = time.After(pause)
			}
		}
	}
}
