// Package release delivers releases to the nodes of a fleet: it stores bundles and signed
// documents, and moves a rollout from stage to stage as the nodes report.
//
// Begin with [Store] and [Assess]. Assess decides about a rollout, from its arguments only;
// [Controller] carries out the decision.
package release

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/luaccm/ccm/fleet/author"
	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/roster"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/fleet/where"
)

// A Verdict is the next step of a rollout.
type Verdict string

// The verdicts.
const (
	Wait   Verdict = "wait"   // for nodes of the stage
	Settle Verdict = "settle" // all have reported: soaking begins
	Soak   Verdict = "soak"   // until the end of soaking
	Pass   Verdict = "pass"   // the next stage may begin
	Stop   Verdict = "stop"   // too many failed or are silent
	Finish Verdict = "finish" // the last stage is over
	Rest   Verdict = "rest"   // the rollout is paused, stopped, aborted or done
)

// An Assessment describes how far a rollout has come.
type Assessment struct {
	Environment string              `json:"environment"`
	Release     int64               `json:"release"`
	Bundle      string              `json:"bundle"`
	State       signed.RolloutState `json:"state"`
	Stage       int                 `json:"stage"`
	Reason      string              `json:"why,omitempty"`
	// CreateTime is when the release was made, and Note why. Since is when the stage began.
	CreateTime time.Time `json:"created,omitzero"`
	Note       string    `json:"reason,omitempty"`
	Since      time.Time `json:"since,omitzero"`
	Verdict    Verdict   `json:"verdict"`
	// SoakUntil is the end of soaking, if the stage soaks.
	SoakUntil time.Time `json:"soak_until,omitzero"`
	Stages    []Stage   `json:"stages"`
	Causes    []Cause   `json:"causes,omitempty"`
	// SignedBy are the signers of the release.
	SignedBy []author.Signer `json:"signed_by,omitempty"`
	// Problems are documents on the servers that are not believed.
	Problems []string `json:"problems,omitempty"`
}

// A Stage has the numbers of a stage's nodes by result. Nodes that were never heard of are in no other
// number than Nodes: a rollout neither waits for them, nor stops because of them, unless others depend
// on a stage that has only such nodes. They take the release when they begin.
type Stage struct {
	Name    string `json:"name"`
	Nodes   int    `json:"nodes"`
	Done    int    `json:"done"`
	Changed int    `json:"changed"`
	Failed  int    `json:"failed"`
	Silent  int    `json:"silent"`
	Waiting int    `json:"waiting"`
	Unheard int    `json:"not_heard_of,omitempty"`
	// The names behind the numbers.
	FailedNodes  []string `json:"failed_nodes,omitempty"`
	SilentNodes  []string `json:"silent_nodes,omitempty"`
	WaitingNodes []string `json:"waiting_nodes,omitempty"`
	UnheardNodes []string `json:"not_heard_of_nodes,omitempty"`
}

// heard is the number of nodes that were ever heard of, of which shares are.
func (s *Stage) heard() int { return s.Nodes - s.Unheard }

// A Cause is a failure that nodes have in common.
type Cause struct {
	Resource string   `json:"resource"` // or the code of a problem
	Message  string   `json:"message"`
	Nodes    []string `json:"nodes"`
}

// Assess assesses the rollout of a release, given all nodes of the environment.
func Assess(r *signed.Release, ro *signed.Rollout, nodes []*roster.Node, now time.Time) *Assessment {
	a := &Assessment{Environment: r.Environment, Release: r.Version, Bundle: r.Bundle, State: ro.State, Stage: ro.Stage, Reason: ro.Reason,
		CreateTime: r.CreateTime, Note: r.Reason, Since: ro.Since}
	conditions := parseStages(r.Stages)
	for _, s := range r.Stages {
		a.Stages = append(a.Stages, Stage{Name: s})
	}
	causes := make(map[[2]string]*Cause)
	for _, n := range nodes {
		a.Stages[min(stageOf(r, conditions, n, now), len(a.Stages)-1)].count(r, n, now, causes)
	}
	for _, c := range causes {
		a.Causes = append(a.Causes, *c)
	}
	slices.SortFunc(a.Causes, func(x, y Cause) int {
		return cmp.Or(len(y.Nodes)-len(x.Nodes), cmp.Compare(x.Resource, y.Resource), cmp.Compare(x.Message, y.Message))
	})
	a.judge(r, ro, now)
	return a
}

// parseStages returns the conditions among stages; nil for percentages.
func parseStages(stages []string) []*where.Condition {
	list := make([]*where.Condition, len(stages))
	for i, s := range stages {
		if _, percent, err := signed.ParseStage(s); !percent && err == nil {
			list[i], _ = where.Parse(s)
		}
	}
	return list
}

// stageOf returns the stage of a node: the one in which it took the release, or else would take it.
func stageOf(r *signed.Release, conditions []*where.Condition, n *roster.Node, now time.Time) int {
	if n.State != nil && n.State.Release == r.Version && n.State.Stage > 0 {
		return n.State.Stage - 1
	}
	return r.StageOf(n.Name, func(text string) (bool, error) {
		for i, s := range r.Stages {
			if s == text && conditions[i] != nil {
				return conditions[i].Holds(n.About(now))
			}
		}
		return false, nil
	})
}

// count adds a node to a stage.
func (s *Stage) count(r *signed.Release, n *roster.Node, now time.Time, causes map[[2]string]*Cause) {
	s.Nodes++
	if !n.HeardOf() {
		s.Unheard++
		s.UnheardNodes = append(s.UnheardNodes, n.Name)
		return
	}
	failure := blocked(r, n.State)
	switch {
	case n.State != nil && n.State.Release == r.Version && n.State.RunID != "":
		s.Done++
		switch n.State.Outcome {
		case "changed":
			s.Changed++
		case "failed", "interrupted":
			failure = firstFailure(n.State)
		}
	case failure != nil:
	case n.Silent(now):
		s.Silent++
		s.SilentNodes = append(s.SilentNodes, n.Name)
		return
	default:
		s.Waiting++
		s.WaitingNodes = append(s.WaitingNodes, n.Name)
		return
	}
	if failure == nil {
		return
	}
	s.Failed++
	s.FailedNodes = append(s.FailedNodes, n.Name)
	key := [2]string{failure.Resource, failure.Message}
	if causes[key] == nil {
		causes[key] = &Cause{Resource: failure.Resource, Message: failure.Message}
	}
	causes[key].Nodes = append(causes[key].Nodes, n.Name)
}

func firstFailure(s *record.State) *record.Failure {
	if len(s.Failures) > 0 {
		return &s.Failures[0]
	}
	return &record.Failure{Resource: "run", Message: s.Outcome}
}

// blocked returns a node's reported reason for not taking a release. A report about another
// release, which may be a moment older, does not count.
func blocked(r *signed.Release, s *record.State) *record.Failure {
	if s == nil || s.Release == r.Version {
		return nil
	}
	for _, p := range s.Problems {
		switch p.Code {
		case record.BundleError, record.DigestMismatch, record.SignatureRefused, record.RollbackRefused, record.ReleaseExpired:
			if p.Release == r.Version && (p.Bundle == "" || p.Bundle == r.Bundle) {
				return &record.Failure{Resource: string(p.Code), Message: p.Message}
			}
		}
	}
	return nil
}

// judge decides the verdict.
func (a *Assessment) judge(r *signed.Release, ro *signed.Rollout, now time.Time) {
	stage := a.Stages[min(ro.Stage, len(a.Stages)-1)]
	nodes, failed := 0, 0
	for _, s := range a.Stages[:min(ro.Stage+1, len(a.Stages))] {
		nodes, failed = nodes+s.heard(), failed+s.Failed
	}
	most, mostInAll := r.MaxFailed.Of(stage.heard()), r.MaxFailed.Of(nodes)
	mostSilent := r.MaxSilent.Of(stage.heard())
	switch {
	case ro.State != signed.Rolling:
		a.Verdict = Rest
	case stage.Failed > most:
		a.Verdict, a.Reason = Stop, fmt.Sprintf("%d failed, limit %s", stage.Failed, limit(most, r.MaxFailed))
	case failed > mostInAll:
		a.Verdict, a.Reason = Stop, fmt.Sprintf("%d failed in total, limit %s", failed, limit(mostInAll, r.MaxFailed))
	case stage.Waiting > 0:
		a.Verdict = Wait
	case a.WaitsForUnheard():
		a.Verdict, a.Reason = Wait, "no node of this stage has ever reported: start the agents, or advance with ccm fleet rollout next"
	case ro.SettleTime.IsZero():
		a.Verdict = Settle
	case now.Before(ro.SettleTime.Add(time.Duration(r.Soak))):
		a.Verdict, a.SoakUntil = Soak, ro.SettleTime.Add(time.Duration(r.Soak))
	case stage.Silent > mostSilent:
		a.Verdict, a.Reason = Stop, fmt.Sprintf("%d silent, limit %s", stage.Silent, limit(mostSilent, r.MaxSilent))
	case ro.Stage >= len(a.Stages)-1:
		a.Verdict = Finish
	default:
		a.Verdict = Pass
	}
}

// WaitsForUnheard reports whether the present stage has only nodes that were never heard of: it would prove nothing to
// the next stage. Nothing follows the last stage.
func (a *Assessment) WaitsForUnheard() bool {
	if a.State != signed.Rolling || a.Stage >= len(a.Stages)-1 {
		return false
	}
	stage := a.Stages[a.Stage]
	return stage.Unheard > 0 && stage.heard() == 0
}

func limit(n int, s signed.Share) string {
	if text := s.String(); text != fmt.Sprint(n) {
		return fmt.Sprintf("%d (%s)", n, text)
	}
	return fmt.Sprint(n)
}

// Unheard returns the nodes of all stages that were never heard of.
func (a *Assessment) Unheard() (names []string) {
	for _, s := range a.Stages {
		names = append(names, s.UnheardNodes...)
	}
	return names
}

// Next returns the rollout after the verdict of an assessment, or nil if it does not change.
func (a *Assessment) Next(ro *signed.Rollout, now time.Time) *signed.Rollout {
	next := *ro
	next.Version++
	next.Reason = ""
	switch a.Verdict {
	case Settle:
		next.SettleTime = now
	case Pass:
		next.Stage, next.Since, next.SettleTime = ro.Stage+1, now, time.Time{}
	case Stop:
		next.State, next.Reason = signed.Stopped, a.Reason
	case Finish:
		next.State = signed.Done
	default:
		return nil
	}
	return &next
}
