package crowd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/luaccm/ccm/fleet/cluster"
	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/node"
	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/retry"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/fleet/subject"
)

// A Connection simulates the part of a node that servers see: its key, its connection with the subscriptions, its
// reads and messages. It trusts all documents, and keeps nothing, so that thousands of them need little processor
// time.
type Connection struct {
	*prepared
	ca      string
	watch   *Watch
	gate    <-chan struct{}
	conn    *nats.Conn
	sending sync.Mutex   // held while a message with events is sent: a node sends one after the other
	number  atomic.Int64 // of its last message with events
	rounds  atomic.Int64 // number of stored rounds

	acknowledgement *retry.Timeout
}

// NewConnection issues credentials to node number i, and prepares it.
func NewConnection(o Options, i int) (*Connection, error) {
	p, err := prepare(o, i)
	if err != nil {
		return nil, err
	}
	return &Connection{prepared: p, ca: o.Fleet.CA(), watch: o.Watch, gate: o.Gate, acknowledgement: node.DefaultTiming.Acknowledgements()}, nil
}

// NodeName implements Member.
func (c *Connection) NodeName() string { return c.name }

// Run implements Member.
func (c *Connection) Run(ctx context.Context) {
	access := cluster.Access{Servers: c.servers, CA: c.ca, Credentials: c.credentials, Inbox: subject.Inbox(c.name), Name: "ccm " + c.name}
	conn, err := access.Dial(nats.MaxReconnects(-1), nats.Timeout(time.Minute), nats.RetryOnFailedConnect(true), nats.DontRandomize(),
		nats.PingInterval(node.PingInterval), node.DefaultTiming.Reconnect(), nats.ReconnectHandler(func(*nats.Conn) {
			time.AfterFunc(rand.N(node.DefaultTiming.SpreadReads), func() { c.readDocuments(ctx) })
		}))
	if err != nil {
		c.watch.warn(err.Error())
		return
	}
	defer conn.Close()
	c.conn = conn
	for _, x := range []struct {
		to string
		do func(m *nats.Msg)
	}{
		{subject.ControlChanges(Environment), func(m *nats.Msg) { c.control(ctx, m) }},
		{subject.Order(Environment, ""), func(m *nats.Msg) { c.ordered(ctx, m) }},
		{subject.Order(Environment, c.name), func(m *nats.Msg) { c.ordered(ctx, m) }},
	} {
		if _, err := conn.Subscribe(x.to, x.do); err != nil {
			c.watch.warn(err.Error())
			return
		}
	}
	if err := conn.Flush(); err != nil {
		c.watch.warn(err.Error())
		return
	}
	c.watch.Connected.Add(1)
	c.heartbeat(ctx)
	c.state(ctx, nil)
	go c.live(ctx)
	select {
	case <-c.gate:
	case <-ctx.Done():
		return
	}
	var facts map[string]any
	if json.Unmarshal(c.facts, &facts) != nil {
		return
	}
	if text, err := (record.Facts{Node: c.name, Time: time.Now().UTC(), Facts: facts}).Encode(); err == nil {
		c.store(ctx, subject.KV(subject.Nodes, subject.FactsKey(c.name)), text)
	}
	<-ctx.Done()
}

// store stores a message, and repeats it until it is acknowledged.
func (c *Connection) store(ctx context.Context, to string, text []byte, options ...direct.Option) {
	for failures := 1; ; failures++ {
		_, err := node.Publish(ctx, c.conn, c.acknowledgement, to, text, options...)
		if err == nil || !retry.Sleep(ctx, node.DefaultTiming.Resend().Delay(failures, rand.Float64)) {
			return
		}
	}
}

// live does what a node does when nothing happens: it reads its last heartbeat and sends another one, and now and then
// it reads the documents.
func (c *Connection) live(ctx context.Context) {
	t := node.DefaultTiming
	for read := rand.N(t.Control); retry.Sleep(ctx, t.Heartbeat*9/10+rand.N(t.Heartbeat/5)); {
		_, _ = direct.Last(ctx, c.conn, subject.KVStream(subject.Presence), subject.KV(subject.Presence, subject.PresenceKey(c.name)))
		c.heartbeat(ctx)
		if read -= t.Heartbeat; read <= 0 {
			read += t.Control
			c.readDocuments(ctx)
		}
	}
}

// readDocuments reads the documents of the environment, which came to the connection already.
func (c *Connection) readDocuments(ctx context.Context) {
	for _, key := range []string{subject.SignersKey(Environment), subject.ReleaseKey(Environment), subject.RolloutKey(Environment)} {
		_, _ = direct.Last(ctx, c.conn, subject.KVStream(subject.Control), subject.KV(subject.Control, key))
	}
}

func (c *Connection) heartbeat(ctx context.Context) {
	if text, err := (record.Presence{Boot: c.name, Version: "bench", StartTime: time.Now().UTC()}).Encode(); err == nil {
		c.store(ctx, subject.KV(subject.Presence, subject.PresenceKey(c.name)), text)
	}
}

// state stores the node's state after a release; nil before the first.
func (c *Connection) state(ctx context.Context, r *signed.Release) {
	s := record.State{Node: c.name, Environment: Environment, Time: time.Now().UTC(), Version: "bench", Labels: c.labels}
	if r != nil {
		s.Release, s.Stage, s.Bundle, s.Outcome, s.RunID, s.StartTime = r.Version, len(r.Stages), r.Bundle, "changed", "run-1", s.Time
		s.Counts = record.Counts{Total: 50, Stable: 49, Changed: 1}
	}
	if text, err := s.Encode(); err == nil {
		c.store(ctx, subject.KV(subject.Nodes, subject.StateKey(c.name)), text)
	}
}

// control takes a release that is for all nodes at once, or at first for those of StageOfFew.
func (c *Connection) control(ctx context.Context, m *nats.Msg) {
	if m.Subject != subject.ControlChange(subject.ReleaseKey(Environment)) {
		return
	}
	r, err := releases.read(m.Data, new(signed.Release))
	if err != nil {
		return
	}
	c.watch.Released.Add(1)
	if len(r.Stages) != 1 && (r.Stages[0] != StageOfFew || c.labels["role"] != roleOfFew) {
		return
	}
	go func() {
		if err := c.take(ctx, strings.TrimPrefix(r.Bundle, "sha256:")); err != nil {
			c.watch.warn(err.Error())
			return
		}
		c.watch.Installed.Add(1)
		c.state(ctx, r)
	}()
}

// A decoder decodes signed documents once for all connections: each machine has a processor of its own for that.
type decoder[D any] struct{ byText sync.Map }

var (
	releases decoder[signed.Release]
	jobs     decoder[signed.Job]
)

// read decodes the text into doc, or returns the document of the same text, which must not be changed.
func (d *decoder[D]) read(text []byte, doc *D) (*D, error) {
	if known, ok := d.byText.Load(string(text)); ok {
		return known.(*D), nil
	}
	if err := signed.Read(text, any(doc).(signed.Document)); err != nil {
		return nil, err
	}
	d.byText.Store(string(text), doc)
	return doc, nil
}

// take downloads a bundle, and discards it.
func (c *Connection) take(ctx context.Context, digest string) error {
	download := node.Download{Conn: c.conn, Environment: Environment, Parts: node.DefaultTiming.Parts, Obsolete: func() bool { return false }}
	body, err := download.Open(ctx, digest)
	if err != nil {
		return err
	}
	defer body.Close()
	_, err = io.Copy(io.Discard, body)
	return err
}

// ordered accepts a job, and reports it as done.
func (c *Connection) ordered(ctx context.Context, m *nats.Msg) {
	j, err := jobs.read(m.Data, new(signed.Job))
	if err != nil || j.Means(c.name, func(string) (bool, error) { return true, nil }) != nil {
		return
	}
	var lines []byte
	for _, r := range []record.JobResult{{State: record.JobAccepted}, {State: record.JobDone, Outcome: "stable"}} {
		r.Protocol, r.Time, r.Job = record.JobProtocol, time.Now().UTC(), j.ID
		text, err := json.Marshal(r)
		if err != nil {
			return
		}
		lines = append(append(lines, text...), '\n')
	}
	go c.tell(ctx, j.ID, lines)
}

// tell stores lines among the events.
func (c *Connection) tell(ctx context.Context, id string, lines []byte) {
	c.sending.Lock()
	defer c.sending.Unlock()
	c.store(ctx, subject.Event(Environment, c.name), lines, direct.ID(c.name+"."+id), direct.Header(record.NumberHeader, fmt.Sprint(c.number.Add(1))))
}

// Tell implements Member.
func (c *Connection) Tell(ctx context.Context, round int) error {
	lines, err := events(c.name, round)
	if err != nil {
		return err
	}
	go func() {
		c.tell(ctx, fmt.Sprintf("round-%d", round), lines)
		c.rounds.Add(1)
	}()
	return nil
}

// HasReported implements Member.
func (c *Connection) HasReported() bool { return c.rounds.Load() == Rounds }
