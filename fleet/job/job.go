// Package job sends jobs to nodes of a fleet, and collects their results.
//
// Begin with [Sender.Send]. The caller names the nodes, so missing answers are known.
package job

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/luaccm/ccm/fleet/author"
	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/fleet/subject"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/signers"
)

// DefaultRetries are the times after which a job is sent again to nodes without an answer: they may
// have been between two servers. A job is run once, because of its id.
var DefaultRetries = []time.Duration{5 * time.Second, 20 * time.Second, time.Minute}

// patience is the time limit for a subscription.
const patience = 10 * time.Second

// A Sender sends jobs to an environment.
type Sender struct {
	NC          *nats.Conn
	Environment string
	Key         signers.Key
	By          string
	Clock       func() time.Time
	Retries     []time.Duration // nil for DefaultRetries
	// Book has the signers whom the operator believes. A job that the key of another one has signed is not sent; nil for any key.
	Book *author.Book
}

// Fill completes a job for some nodes: its id, its times, and its nodes. The condition must be the
// one that selected the nodes.
func (s *Sender) Fill(j *signed.Job, names []string, expires time.Duration) {
	now := s.Clock().UTC().Truncate(time.Second)
	j.Environment, j.CreateTime, j.Expires = s.Environment, now, now.Add(expires)
	j.ID, j.By, j.Name, j.Count = NewID(s.Clock()), s.By, signed.SetDigest(names), len(names)
	if len(names) <= signed.MaxNames {
		j.Nodes = slices.Sorted(slices.Values(names))
	}
}

// digits are the digits of Crockford's base 32, the form of ULIDs (github.com/ulid/spec).
const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// NewID returns a new ULID: 48 bits of time in milliseconds, and 80 random ones.
func NewID(now time.Time) string {
	var b [16]byte
	ms := uint64(now.UnixMilli())
	for i := range 6 {
		b[i] = byte(ms >> (8 * (5 - i)))
	}
	_, _ = rand.Read(b[6:]) // never fails
	var out [26]byte
	var acc uint32
	bits, at := 2, 0 // 130 bits for 128
	for _, x := range b {
		acc, bits = acc<<8|uint32(x), bits+8
		for bits >= 5 {
			bits -= 5
			out[at] = digits[acc>>bits&31]
			at++
		}
	}
	return string(out[:])
}

// A Node is the state of a job on one node.
type Node struct {
	Name   string            `json:"node"`
	State  record.JobState   `json:"state"` // "" if it did not answer
	Result *record.JobResult `json:"result,omitempty"`

	sentAt  time.Time
	retries int
}

// Done reports whether a node completed the job without a failure.
func (n *Node) Done() bool {
	return n.State == record.JobDone && n.Result.Outcome != "failed" && n.Result.Outcome != "interrupted"
}

// over reports whether the node's result is final.
func (n *Node) over() bool { return n.State != "" && n.State != record.JobAccepted }

// A Progress is the state of a job on all its nodes.
type Progress struct {
	Job      string `json:"job"`
	Nodes    int    `json:"nodes"`
	Accepted int    `json:"accepted"`
	Done     int    `json:"done"`
	Changed  int    `json:"changed"`
	Pending  int    `json:"pending"` // plans with something to do
	Failed   int    `json:"failed"`
	Refused  int    `json:"refused"`
	Expired  int    `json:"expired"`
	// NotAsked is the number of nodes whose turn has not come, Silent the nodes that did not
	// answer.
	NotAsked int      `json:"not_asked"`
	Silent   []string `json:"silent,omitempty"`

	ByNode []*Node `json:"-"`
}

// OK reports whether all nodes completed the job without a failure.
func (p *Progress) OK() bool {
	return p.Failed == 0 && p.Refused == 0 && p.Expired == 0 && p.NotAsked == 0 && len(p.Silent) == 0 && p.Done == p.Nodes
}

// Send signs a job, sends it, and reports its progress until all nodes have answered, it has
// expired, or the context ends. A key that the book does not name is an error, and nothing is sent. The end of the context does not stop the job.
func (s *Sender) Send(ctx context.Context, j *signed.Job, names []string, tell func(*Progress)) (*Progress, error) {
	text, err := signed.Sign(ctx, j, s.Key)
	if err != nil {
		return nil, err
	}
	if err := s.Book.Recognizes(text, new(signed.Job)); err != nil {
		return nil, err
	}
	w := &waiter{s: s, job: j, text: text, retries: s.Retries, nodes: make(map[string]*Node)}
	if w.retries == nil {
		w.retries = DefaultRetries
	}
	for _, name := range slices.Sorted(slices.Values(names)) {
		n := &Node{Name: name}
		w.nodes[name] = n
		w.order = append(w.order, n)
	}
	messages, stop, err := direct.Listen(s.NC, subject.Event(s.Environment, "*"))
	if err != nil {
		return nil, err
	}
	defer stop()
	if err := s.NC.FlushTimeout(patience); err != nil {
		return nil, err
	}
	if j.AtMost == 0 {
		if err := w.sayToAll(ctx); err != nil {
			return nil, err
		}
	}
	err = w.run(ctx, messages, tell)
	return w.progress(), err
}

// A waiter waits for the answers to a job.
type waiter struct {
	s       *Sender
	job     *signed.Job
	text    []byte
	retries []time.Duration
	nodes   map[string]*Node
	order   []*Node
}

func (w *waiter) sayToAll(ctx context.Context) error {
	if _, err := direct.Publish(ctx, w.s.NC, subject.Job(w.s.Environment, ""), w.text); err != nil {
		return err
	}
	for _, n := range w.order {
		n.sentAt = w.s.Clock()
	}
	return nil
}

// tick is the time between checks for nodes to send the job to.
const tick = 200 * time.Millisecond

func (w *waiter) run(ctx context.Context, messages <-chan *nats.Msg, tell func(*Progress)) error {
	t := time.NewTicker(tick)
	defer t.Stop()
	for {
		if err := w.ask(ctx); err != nil && ctx.Err() == nil {
			return err
		}
		p := w.progress()
		if tell != nil {
			tell(p)
		}
		if w.over() {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case m := <-messages:
			w.heard(m)
			for drained := false; !drained; {
				select {
				case m := <-messages:
					w.heard(m)
				default:
					drained = true
				}
			}
		case <-t.C:
		}
	}
}

// over reports whether no more answers can come.
func (w *waiter) over() bool {
	if w.s.Clock().After(w.job.Expires.Add(2 * time.Second)) {
		return true
	}
	for _, n := range w.order {
		if !n.over() {
			return false
		}
	}
	return true
}

// ask sends the job to nodes whose turn it is, and again to nodes without an answer.
func (w *waiter) ask(ctx context.Context) error {
	now := w.s.Clock()
	if now.After(w.job.Expires) {
		return nil
	}
	busy := 0
	for _, n := range w.order {
		if n.sentAt.IsZero() || n.over() {
			continue
		}
		if n.State == "" && n.retries < len(w.retries) && now.Sub(n.sentAt) >= w.retries[n.retries] {
			n.retries++
			if err := w.say(ctx, n); err != nil {
				return err
			}
		}
		// A node that has not answered the last retry takes no place of another one.
		if n.State != "" || n.retries < len(w.retries) {
			busy++
		}
	}
	if w.job.AtMost == 0 {
		return nil
	}
	for _, n := range w.order {
		if busy >= w.job.AtMost {
			break
		}
		if n.sentAt.IsZero() {
			if err := w.say(ctx, n); err != nil {
				return err
			}
			n.sentAt = now
			busy++
		}
	}
	return nil
}

func (w *waiter) say(ctx context.Context, n *Node) error {
	_, err := direct.Publish(ctx, w.s.NC, subject.Job(w.s.Environment, n.Name), w.text)
	if err != nil {
		return diag.Cannot("send", fmt.Sprintf("the job to %s", n.Name), err)
	}
	return nil
}

// heard handles a message of a node.
func (w *waiter) heard(m *nats.Msg) {
	name := nodeOf(m.Subject)
	n := w.nodes[name]
	if n == nil {
		return
	}
	for line := range bytes.Lines(m.Data) {
		if r, ok := record.DecodeJobResult(line); ok && r.Job == w.job.ID {
			n.heard(r)
		}
	}
}

// heard takes a result. A final state stays, except that done replaces it: a node that refused the
// job may have received it again.
func (n *Node) heard(r record.JobResult) {
	if n.over() && r.State != record.JobDone {
		return
	}
	n.State, n.Result = r.State, &r
}

// nodeOf returns the last token of a subject.
func nodeOf(s string) string { return s[bytes.LastIndexByte([]byte(s), '.')+1:] }

func (w *waiter) progress() *Progress { return count(w.job, w.order) }

func count(j *signed.Job, nodes []*Node) *Progress {
	p := &Progress{Job: j.ID, Nodes: len(nodes), ByNode: nodes}
	for _, n := range nodes {
		switch n.State {
		case "":
			if n.sentAt.IsZero() {
				p.NotAsked++
			} else {
				p.Silent = append(p.Silent, n.Name)
			}
			continue
		case record.JobRefused:
			p.Refused++
			continue
		case record.JobExpired:
			p.Expired++
			continue
		case record.JobDone:
			p.Done++
			switch n.Result.Outcome {
			case "changed":
				p.Changed++
			case "pending":
				p.Pending++
			case "failed", "interrupted":
				p.Failed++
			}
		}
		p.Accepted++
	}
	return p
}
