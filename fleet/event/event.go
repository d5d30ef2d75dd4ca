// Package event reads the events of a fleet's nodes: the lines of ccm run --output json, and the
// results of jobs.
//
// Begin with [Read] and [Follow]. Lines come from nodes and are only their claims.
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
	"github.com/luaccm/ccm/runtime/diag"
)

// patience is the time limit for a subscription, and pause the time before stored lines that the
// servers did not send are requested again.
const (
	patience = 10 * time.Second
	pause    = time.Second
)

// A Line is a node's message about one resource, run or job.
type Line struct {
	Node, Environment string
	Fields            map[string]any
	Text              []byte // JSON, with node and environment
}

// A Filter chooses lines.
type Filter struct {
	Environment string   // "" for all
	Nodes       []string // nil for all
	Since       time.Time
	Condition   *Condition // nil for all
}

// A Condition is an expression about the fields of a line: outcome == "failed".
type Condition struct{ program *vm.Program }

// ParseCondition parses a condition.
func ParseCondition(text string) (*Condition, error) {
	program, err := expr.Compile(text, expr.AsBool(), expr.AllowUndefinedVariables())
	if err != nil {
		return nil, diag.Invalid("condition", err)
	}
	return &Condition{program}, nil
}

func (c *Condition) holds(fields map[string]any) bool {
	if c == nil {
		return true
	}
	out, err := expr.Run(c.program, fields)
	return err == nil && out == true // a line without the field does not match
}

// subject returns the subject of the chosen lines.
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

// A reader passes each line on once.
type reader struct {
	f    Filter
	do   func(*Line) error
	done error // the error that do returned
	seen map[string]bool
	ids  []string // in order of arrival
}

// remembered is the number of known ids, by which lines that were sent twice are passed on once.
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

// idOf returns the id of a line among the lines of its node; "" if it has none.
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

// withoutBrace returns the text of an object without its opening brace, to follow other fields.
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

// Read calls do for the stored lines, oldest first.
func Read(ctx context.Context, nc *nats.Conn, f Filter, do func(*Line) error) error {
	return (&reader{f: f, do: do, seen: make(map[string]bool)}).stored(ctx, nc)
}

func (r *reader) stored(ctx context.Context, nc *nats.Conn) error {
	return direct.All(ctx, nc, direct.Request{Stream: subject.Events, Filter: r.f.subject(), Since: r.f.Since}, func(m *direct.Message) error {
		return r.message(m.Subject, m.Data)
	})
}

// Follow is Read, and then calls do for new lines until the context ends. It makes no consumer:
// lines that were stored during a disconnection are read from the store.
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
	// again triggers reading lines that were stored meanwhile; after servers are back they may have
	// no leader yet. It also triggers at the beginning, for lines that arrived before all servers
	// knew the subscription and that the replica lacked.
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
