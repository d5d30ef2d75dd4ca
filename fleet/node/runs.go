package node

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/luaccm/ccm/fleet/agent"
	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/runtime/encryption"
)

// RunBegins implements agent.Observer.
func (n *Node) RunBegins(*agent.Run) { n.presence.setRunning(true) }

// RunLine implements agent.Observer.
func (n *Node) RunLine(r *agent.Run, line []byte) {
	if r.Mode == agent.Plan || r.Mode == agent.Check {
		n.outbox.line(line) // such runs leave no record
		return
	}
	poke(n.outbox.wake)
}

// Unmanaged implements agent.Fleet.
func (n *Node) Unmanaged(u *agent.Unmanaged) {
	n.report.setUnmanaged(&record.Unmanaged{Listed: u.Listed, Count: u.Count, Items: u.Items})
	n.report.stateChanged()
}

// RunEnded implements agent.Observer.
func (n *Node) RunEnded(r *agent.Run, result *agent.Result) {
	n.presence.setRunning(false)
	if r.Mode != agent.Check && len(r.Targets) == 0 && !n.isQuestion(r) {
		n.report.setRun(runState(r, result, n.member.options.Clock().UTC()), r.Source == n.releases.bundles.Name(), result.Digest)
	}
	if result.DataStale != nil {
		n.member.problems.set(record.DataStale, "external data unavailable since "+result.DataStale.Format(time.RFC3339))
	} else {
		n.member.problems.set(record.DataStale, "")
	}
	if r.Mode != agent.Check && len(r.Targets) == 0 {
		n.member.problems.set(record.SecretUnreadable, strings.Join(unreadable(r, result), ", "))
	}
	if result.Summary != nil && (r.Mode != agent.Apply || !n.outbox.hasRecord(result.RunID)) {
		n.outbox.add(result.Summary)
	}
	poke(n.outbox.wake)
	poke(n.report.factsWake)
	n.report.stateChanged()
}

// isQuestion reports whether a run is the plan of a job on a node that does not only plan. Such a
// plan does not change the result of the last run in the node's state: a plan does not mend a
// failure.
func (n *Node) isQuestion(r *agent.Run) bool {
	return r.Mode == agent.Plan && r.ID != "" && !n.report.onlyPlanned()
}

// runState returns the part of a state about a run.
func runState(r *agent.Run, result *agent.Result, now time.Time) *record.State {
	s := &record.State{
		RunID: result.RunID, StartTime: result.Began.UTC(), Duration: result.Duration.Seconds(), Trigger: trigger(r), Job: r.ID, Noop: r.Mode == agent.Plan,
		Outcome: outcomeOf(result), Time: now,
	}
	if s.RunID == "" { // it could not begin
		s.RunID = "none"
	}
	addCounts(&s.Counts, result)
	for _, f := range result.Failures {
		s.Failures = append(s.Failures, record.Failure{Resource: f.Resource, Message: f.Message})
	}
	if result.Error != "" {
		s.Failures = append(s.Failures, record.Failure{Resource: "run", Message: result.Error})
	}
	return s
}

// unreadable returns the secrets for which a run had no key, as named in its messages.
func unreadable(r *agent.Run, result *agent.Result) (secrets []string) {
	messages := strings.Split(result.Error, "\n")
	for _, f := range result.Failures {
		messages = append(messages, f.Message)
	}
	for _, m := range messages {
		before, _, found := strings.Cut(m, ": "+encryption.ErrNoIdentity.Error())
		if !found {
			continue
		}
		// A place in the site may come before the name.
		secret := strings.TrimPrefix(before[strings.LastIndex(before, " ")+1:], filepath.Dir(r.Site.Path)+"/")
		if !slices.Contains(secrets, secret) {
			secrets = append(secrets, secret)
		}
	}
	return secrets
}

// trigger returns the reason of a run in one word.
func trigger(r *agent.Run) string {
	if r.ID != "" {
		return "job"
	}
	return r.Reason
}

// outcomeOf returns the outcome of a run in the word for states.
func outcomeOf(r *agent.Result) string {
	switch {
	case r.Interrupted:
		return "interrupted"
	case !r.OK() || r.Counts["failed"] > 0:
		return "failed"
	case r.Counts["changed"] > 0:
		return "changed"
	case r.Mode == agent.Plan && r.Counts["pending"] > 0:
		return "pending"
	}
	return "stable"
}

// outcomes are in order of severity.
var outcomes = []string{"stable", "pending", "changed", "interrupted", "failed"}

func worse(a, b string) string {
	return outcomes[max(slices.Index(outcomes, a), slices.Index(outcomes, b), 0)]
}

func addCounts(c *record.Counts, r *agent.Result) {
	c.Total += r.Counts["total"]
	c.Stable += r.Counts["stable"]
	c.Changed += r.Counts["changed"]
	c.Failures += r.Counts["failed"]
	c.Skipped += r.Counts["skipped"]
	c.Pending += r.Counts["pending"]
	c.Unknown += r.Counts["unknown"]
}
