package node

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/luaccm/ccm/fleet/agent"
	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/subject"
	"github.com/luaccm/ccm/runtime/encryption"
)

// RunBegins implements agent.Observer.
func (n *Node) RunBegins(r *agent.Run) {
	n.mu.Lock()
	n.running, n.job = true, r.ID
	n.mu.Unlock()
}

// RunLine implements agent.Observer.
func (n *Node) RunLine(r *agent.Run, line []byte) {
	if r.Mode == agent.Plan || r.Mode == agent.Check {
		n.outbox.line(line) // such runs leave no record
		return
	}
	poke(n.outbox.wake)
}

// RunEnded implements agent.Observer.
func (n *Node) RunEnded(r *agent.Run, result *agent.Result) {
	n.mu.Lock()
	n.running, n.job = false, ""
	taken, stage := n.memory.taken()
	if r.Mode != agent.Check && len(r.Targets) == 0 {
		s := &record.State{
			RunID: result.RunID, Started: result.Began.UTC(), Duration: result.Took.Seconds(), Trigger: trigger(r), Job: r.ID, Noop: r.Mode == agent.Plan,
			Outcome: outcomeOf(result), Time: n.o.Clock().UTC(),
		}
		if s.RunID == "" { // it could not begin
			s.RunID = "none"
		}
		addCounts(&s.Counts, result)
		for _, f := range result.Failed {
			s.Failed = append(s.Failed, record.Failure{Resource: f.Resource, Message: f.Message})
		}
		if result.Error != "" {
			s.Failed = append(s.Failed, record.Failure{Resource: "run", Message: result.Error})
		}
		if r.Source == n.bundles.Name() {
			s.Bundle, s.Release, s.Stage = result.Digest, taken, stage
		} else if n.last != nil {
			s.Bundle, s.Release, s.Stage = n.last.Bundle, n.last.Release, n.last.Stage
		}
		n.last = s
	}
	n.mu.Unlock()
	if result.DataStale != nil {
		n.problem(record.DataStale, "external data could not be had since "+result.DataStale.Format(time.RFC3339))
	} else {
		n.problem(record.DataStale, "")
	}
	if r.Mode != agent.Check && len(r.Targets) == 0 {
		n.problem(record.SecretUnreadable, strings.Join(unreadable(r, result), ", "))
	}
	if result.Summary != nil && (r.Mode != agent.Apply || !n.outbox.hasRecord(result.RunID)) {
		n.outbox.add(result.Summary)
	}
	poke(n.outbox.wake)
	poke(n.factsWake)
	n.tellState()
}

// unreadable returns the secrets for which a run had no key, as its messages name them.
func unreadable(r *agent.Run, result *agent.Result) (secrets []string) {
	messages := strings.Split(result.Error, "\n")
	for _, f := range result.Failed {
		messages = append(messages, f.Message)
	}
	for _, m := range messages {
		before, _, found := strings.Cut(m, ": "+encryption.ErrNoIdentity.Error())
		if !found {
			continue
		}
		// A place in the site may stand before the name, and the text says nothing more exact.
		secret := strings.TrimPrefix(before[strings.LastIndex(before, " ")+1:], filepath.Dir(r.Site.Path)+"/")
		if !slices.Contains(secrets, secret) {
			secrets = append(secrets, secret)
		}
	}
	return secrets
}

// trigger says in a word why a run took place.
func trigger(r *agent.Run) string {
	if r.ID != "" {
		return "job"
	}
	return r.Reason
}

// outcomeOf says what became of a run in the word of states.
func outcomeOf(r *agent.Result) string {
	switch {
	case r.Interrupted:
		return "interrupted"
	case !r.OK() || r.Counts["failed"] > 0:
		return "failed"
	case r.Counts["changed"] > 0:
		return "changed"
	}
	return "stable"
}

// outcomes are in the order of how bad they are.
var outcomes = []string{"stable", "changed", "interrupted", "failed"}

func worse(a, b string) string {
	return outcomes[max(slices.Index(outcomes, a), slices.Index(outcomes, b), 0)]
}

func addCounts(c *record.Counts, r *agent.Result) {
	c.Total += r.Counts["total"]
	c.Stable += r.Counts["stable"]
	c.Changed += r.Counts["changed"]
	c.Failed += r.Counts["failed"]
	c.Skipped += r.Counts["skipped"]
	c.Pending += r.Counts["pending"]
	c.Unknown += r.Counts["unknown"]
}

// stateLocked returns what the node says of itself now. The caller has locked n.mu.
func (n *Node) stateLocked() record.State {
	var s record.State
	if n.last != nil {
		s = *n.last
	} else {
		// Before the first run of this process: what is there is that of the release before it.
		s.Release, s.Stage = n.memory.taken()
	}
	s.Node, s.Environment, s.Version = n.identity.Name, n.identity.Environment, n.o.Version
	s.Labels = labels(n.facts, n.o.Labels)
	s.Skew = n.skew.Round(time.Second).Seconds()
	s.Problems = nil
	for _, p := range n.problems {
		s.Problems = append(s.Problems, p)
	}
	slices.SortFunc(s.Problems, func(a, b record.Problem) int { return strings.Compare(string(a.Code), string(b.Code)) })
	return s
}

// labels picks facts by their dotted paths, and names them by the last part if no other has that.
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

// tellState has the state sent, by the goroutine that sends.
func (n *Node) tellState() {
	if n.outbox != nil {
		n.outbox.stateDue.Store(true)
		poke(n.outbox.wake)
	}
}

// sendState sends the state if it is another one than was sent.
func (n *Node) sendState(ctx context.Context) error {
	n.mu.Lock()
	if n.facts == nil && n.last == nil && len(n.problems) == 0 {
		n.mu.Unlock()
		return nil // nothing is known yet
	}
	s := n.stateLocked()
	n.mu.Unlock()
	if s.Time.IsZero() {
		s.Time = n.o.Clock().UTC()
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
	n.mu.Lock()
	sent := n.stateSent == digest
	n.mu.Unlock()
	if sent {
		return nil
	}
	if _, err := n.publish(ctx, subject.KV(subject.Nodes, subject.StateKey(n.identity.Name)), text); err != nil {
		return err
	}
	n.mu.Lock()
	n.stateSent = digest
	n.mu.Unlock()
	return nil
}

func digestOf(v any) string {
	text, _ := json.Marshal(v)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// tellFacts gathers and sends the facts at the beginning, after runs, and once a day.
func (n *Node) tellFacts(ctx context.Context) {
	for {
		if err := n.gatherFacts(ctx, false); err != nil && ctx.Err() == nil {
			n.log.Warn("fleet: facts: " + err.Error())
		}
		if !sleep(ctx, n.o.Timing.Facts) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-n.factsWake:
		case <-time.After(24 * time.Hour):
			n.mu.Lock()
			n.stateSent = ""
			n.mu.Unlock()
		}
	}
}

// gatherFacts gathers the facts, and has them sent if they are others. With always they are sent anyway.
func (n *Node) gatherFacts(ctx context.Context, always bool) error {
	text, err := n.machine.Output(ctx, "facts", "--output", "json")
	if err != nil {
		return err
	}
	var facts map[string]any
	if err := json.Unmarshal(text, &facts); err != nil {
		return fmt.Errorf("what ccm facts says cannot be read: %w", err)
	}
	n.mu.Lock()
	n.facts = facts
	n.mu.Unlock()
	n.tellState()
	poke(n.decide) // a condition may hold now
	n.outbox.factsDue.Store(true)
	if always {
		n.outbox.forgetFacts.Store(true)
	}
	poke(n.outbox.wake)
	return nil
}

// sendFacts sends the facts if they are others than were sent.
func (n *Node) sendFacts(ctx context.Context) error {
	n.mu.Lock()
	facts := n.facts
	n.mu.Unlock()
	if facts == nil {
		return nil
	}
	digest := digestOf(facts)
	if digest == n.outbox.factsSent {
		return nil
	}
	doc := record.Facts{Node: n.identity.Name, Time: n.o.Clock().UTC(), Facts: facts}
	text, err := doc.Encode()
	if err != nil {
		return err
	}
	var stored record.Facts
	if json.Unmarshal(text, &stored) == nil && len(stored.Truncated) > 0 {
		n.problem(record.FactsTruncated, "left out: "+strings.Join(stored.Truncated, ", "))
	} else {
		n.problem(record.FactsTruncated, "")
	}
	if _, err := n.publish(ctx, subject.KV(subject.Nodes, subject.FactsKey(n.identity.Name)), text); err != nil {
		return err
	}
	n.outbox.factsSent = digest
	return nil
}

// lookForOwn has facts and state sent again that the servers have lost.
func (n *Node) lookForOwn(ctx context.Context) {
	stream := subject.KVStream(subject.Nodes)
	if _, err := direct.Last(ctx, n.nc, stream, subject.KV(subject.Nodes, subject.StateKey(n.identity.Name))); errors.Is(err, direct.ErrNone) {
		n.mu.Lock()
		n.stateSent = ""
		n.mu.Unlock()
		n.tellState()
	}
	if _, err := direct.Last(ctx, n.nc, stream, subject.KV(subject.Nodes, subject.FactsKey(n.identity.Name))); errors.Is(err, direct.ErrNone) {
		n.outbox.forgetFacts.Store(true)
		n.outbox.factsDue.Store(true)
		poke(n.outbox.wake)
	}
}
