package node

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/retry"
	"github.com/luaccm/ccm/fleet/subject"
	"github.com/luaccm/ccm/fleet/where"
	"github.com/luaccm/ccm/runtime/diag"
)

// A report sends the node's state and facts, each when it has changed.
type report struct {
	member    *member
	skew      func() time.Duration // of the clock
	wake      func()               // wakes the goroutine that calls send
	decide    func()               // called when conditions may have changed
	factsWake chan struct{}
	// stateDue and factsDue say that there may be something to send.
	stateDue, factsDue, forgetFacts atomic.Bool
	// For the sending goroutine: the facts sent last, the sequences of what was stored, and the last time
	// when the servers were asked whether they still have that.
	factsSent                    sentFacts
	factsSequence, stateSequence uint64
	askedAt                      time.Time

	mu        sync.Mutex
	facts     map[string]any
	last      *record.State // sent last or to be sent
	stateSent string        // digest of the sent state
	// condition is the last one asked for: that of a release is asked with each part of its
	// bundle.
	condition *where.Condition
}

// setRun records the result of the last run. A run of the bundle belongs to the present release;
// a run of another source leaves the release unchanged.
func (r *report) setRun(s *record.State, ofBundle bool, digest string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last != nil {
		s.Unmanaged = r.last.Unmanaged
	}
	if ofBundle {
		s.Bundle = digest
		s.Release, s.Stage = r.member.memory.taken()
	} else if r.last != nil {
		s.Bundle, s.Release, s.Stage = r.last.Bundle, r.last.Release, r.last.Stage
	}
	r.keepLocked(s)
}

// setUnmanaged records what no source describes.
func (r *report) setUnmanaged(u *record.Unmanaged) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.stateLocked()
	s.Unmanaged = u
	r.keepLocked(&s)
}

// keepLocked makes s the last state, also for the next process. The caller has locked r.mu.
func (r *report) keepLocked(s *record.State) {
	r.last = s
	if err := r.member.memory.saveLast(s); err != nil {
		r.member.log.Debug("fleet: " + err.Error())
	}
}

// stateLocked returns the present state. The caller has locked r.mu.
func (r *report) stateLocked() record.State {
	var s record.State
	if r.last != nil {
		s = *r.last
	} else {
		// Before the first run the installed bundle is that of the release.
		s.Release, s.Stage = r.member.memory.taken()
	}
	m := r.member
	s.Node, s.Environment, s.Version = m.identity.Name, m.identity.Environment, m.options.Version
	s.Labels = labels(r.facts, m.options.Labels)
	s.Skew = r.skew().Round(time.Second).Seconds()
	s.Problems = m.problems.list()
	return s
}

// onlyPlanned reports whether the node's last run was a plan, as on a node that must not change
// anything.
func (r *report) onlyPlanned() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last != nil && r.last.Noop
}

// holds evaluates a condition for this node.
func (r *report) holds(text string) (bool, error) {
	r.mu.Lock()
	c := r.condition
	if c == nil || c.Text != text {
		var err error
		if c, err = where.Parse(text); err != nil {
			r.mu.Unlock()
			return false, err
		}
		r.condition = c
	}
	s := r.stateLocked()
	about := where.Node{Name: r.member.identity.Name, Environment: r.member.identity.Environment, Facts: r.facts, State: &s}
	r.mu.Unlock()
	return c.Holds(about)
}

// labels selects facts by dotted paths, and names each by its last part if that is unique.
func labels(facts map[string]any, paths []string) map[string]string {
	out := make(map[string]string)
	for _, p := range paths[:min(len(paths), 10)] {
		var at any = facts
		for part := range strings.SplitSeq(p, ".") {
			m, ok := at.(map[string]any)
			if !ok {
				at = nil
				break
			}
			at = m[part]
		}
		switch v := at.(type) {
		case nil, map[string]any, []any:
		default:
			out[p] = fmt.Sprint(v)
		}
	}
	return out
}

// stateChanged wakes the sending goroutine to send the state.
func (r *report) stateChanged() {
	r.stateDue.Store(true)
	r.wake()
}

// send sends what is due. Only one goroutine calls it.
func (r *report) send(ctx context.Context) error {
	if r.forgetFacts.Swap(false) {
		r.factsSent = sentFacts{}
	}
	if now := time.Now(); now.Sub(r.askedAt) > r.member.options.Timing.Control {
		r.askedAt = now
		r.lookForOwn(ctx)
	}
	if r.stateDue.Swap(false) {
		if err := r.sendState(ctx); err != nil {
			r.stateDue.Store(true)
			return err
		}
	}
	if r.factsDue.Swap(false) {
		if err := r.sendFacts(ctx); err != nil {
			r.factsDue.Store(true)
			return err
		}
	}
	return nil
}

// sendState sends the state if it has changed.
func (r *report) sendState(ctx context.Context) error {
	r.mu.Lock()
	if r.facts == nil && r.last == nil && len(r.member.problems.list()) == 0 {
		r.mu.Unlock()
		return nil // nothing is known yet
	}
	s := r.stateLocked()
	r.mu.Unlock()
	if s.Time.IsZero() {
		s.Time = r.member.options.Clock().UTC()
	}
	text, err := s.Encode()
	if err != nil {
		return err
	}
	same := s
	same.Skew = 0
	if s.RunID == "" {
		same.Time = time.Time{}
	}
	digest := digestOf(same)
	r.mu.Lock()
	sent := r.stateSent == digest
	r.mu.Unlock()
	if sent {
		return nil
	}
	ack, err := r.member.publish(ctx, subject.KV(subject.Nodes, subject.StateKey(r.member.identity.Name)), text)
	if err != nil {
		return err
	}
	r.stateSequence = ack.Sequence
	r.mu.Lock()
	r.stateSent = digest
	r.mu.Unlock()
	return nil
}

func digestOf(v any) string {
	text, _ := json.Marshal(v)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// runFacts gathers and sends the facts at the start, after runs, and once a day.
func (r *report) runFacts(ctx context.Context) {
	for {
		if err := r.gatherFacts(ctx, false); err != nil && ctx.Err() == nil {
			r.member.log.Warn("fleet: facts: " + err.Error())
		}
		if !retry.Sleep(ctx, r.member.options.Timing.Facts) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-r.factsWake:
		case <-time.After(24 * time.Hour):
			r.mu.Lock()
			r.stateSent = ""
			r.mu.Unlock()
		}
	}
}

// gatherFacts gathers the facts, and sends them if they have changed or always is set.
func (r *report) gatherFacts(ctx context.Context, always bool) error {
	text, err := r.member.machine.Output(ctx, "facts", "--output", "json")
	if err != nil {
		return err
	}
	var tree map[string]any
	if err := json.Unmarshal(text, &tree); err != nil {
		return diag.Invalid("output of ccm facts", err)
	}
	r.mu.Lock()
	r.facts = tree
	r.mu.Unlock()
	r.stateChanged()
	r.decide() // a condition may hold now
	r.factsDue.Store(true)
	if always {
		r.forgetFacts.Store(true)
	}
	r.wake()
	return nil
}

// volatileFacts is the least time between two sendings of facts of which only volatile ones changed.
const volatileFacts = time.Hour

// sentFacts describes the facts that were sent last.
type sentFacts struct {
	digest, stable string // of all facts, and of all but the volatile ones
	at             time.Time
}

// sentNow describes facts that are sent now. Without stable all facts count as stable.
func sentNow(tree map[string]any, stable func(map[string]any) map[string]any, now time.Time) sentFacts {
	s := sentFacts{digest: digestOf(tree), at: now}
	if s.stable = s.digest; stable != nil {
		s.stable = digestOf(stable(tree))
	}
	return s
}

// covers reports whether other need not be sent after s. Facts such as the load differ in each look: they alone are
// no reason to send all facts after each run.
func (s sentFacts) covers(other sentFacts) bool {
	return s.digest == other.digest || s.stable == other.stable && other.at.Sub(s.at) < volatileFacts
}

// sendFacts sends the facts if they have changed.
func (r *report) sendFacts(ctx context.Context) error {
	r.mu.Lock()
	tree := r.facts
	r.mu.Unlock()
	if tree == nil {
		return nil
	}
	sent := sentNow(tree, r.member.options.StableFacts, r.member.options.Clock())
	if r.factsSent.covers(sent) {
		return nil
	}
	doc := record.Facts{Node: r.member.identity.Name, Time: sent.at.UTC(), Facts: tree}
	text, err := doc.Encode()
	if err != nil {
		return err
	}
	var stored record.Facts
	if json.Unmarshal(text, &stored) == nil && len(stored.TruncatedFacts) > 0 {
		r.member.problems.set(record.FactsTruncated, "omitted: "+strings.Join(stored.TruncatedFacts, ", "))
	} else {
		r.member.problems.set(record.FactsTruncated, "")
	}
	ack, err := r.member.publish(ctx, subject.KV(subject.Nodes, subject.FactsKey(r.member.identity.Name)), text)
	if err != nil {
		return err
	}
	r.factsSent, r.factsSequence = sent, ack.Sequence
	return nil
}

// lookForOwn sends facts and state again if the servers lost them, went back to older ones, or have
// those of another machine with this node's key, which may be gone meanwhile.
func (r *report) lookForOwn(ctx context.Context) {
	if name := r.member.identity.Name; r.isReplaced(ctx, subject.StateKey(name), r.stateSequence) {
		r.mu.Lock()
		r.stateSent = ""
		r.mu.Unlock()
		r.stateChanged()
	}
	if r.isReplaced(ctx, subject.FactsKey(r.member.identity.Name), r.factsSequence) {
		r.forgetFacts.Store(true)
		r.factsDue.Store(true)
		r.wake()
	}
}

// isReplaced reports whether the servers have another value of a key of the node than the one of a
// sequence, or none.
func (r *report) isReplaced(ctx context.Context, key string, sequence uint64) bool {
	found, err := direct.Last(ctx, r.member.conn, subject.KVStream(subject.Nodes), subject.KV(subject.Nodes, key))
	return errors.Is(err, direct.ErrNone) || err == nil && found.Sequence != sequence
}
