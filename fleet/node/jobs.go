package node

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/luaccm/ccm/fleet/agent"
	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/fleet/subject"
)

// ordered takes a job as it was told.
func (n *Node) ordered(m *nats.Msg) {
	select {
	case n.orders <- m.Data:
	default: // it is said again to those who do not answer
		n.log.Warn("fleet: too many jobs at a time, one is left out")
	}
}

// readJobs reads the last jobs, for what was told while there was no connection.
func (n *Node) readJobs(ctx context.Context) {
	env, name := n.identity.Environment, n.identity.Name
	for _, of := range []string{subject.Job(env, ""), subject.Job(env, name)} {
		m, err := direct.Last(ctx, n.nc, subject.Jobs, of)
		if err != nil {
			continue // what there is none of, or what is read again
		}
		select {
		case n.orders <- m.Data:
		case <-ctx.Done():
			return
		}
	}
}

// carryOutJobs carries out jobs, those that run something one after the other. One that cancels does not wait.
func (n *Node) carryOutJobs(ctx context.Context) {
	n.tellUnfinished()
	// What only tells does not wait for runs.
	var workers sync.WaitGroup
	defer workers.Wait()
	worker := func() chan<- *signed.Job {
		queue := make(chan *signed.Job, 64)
		workers.Go(func() {
			for j := range queue {
				n.carryOut(ctx, j)
			}
		})
		return queue
	}
	runs, tells := worker(), worker()
	defer close(runs)
	defer close(tells)
	for {
		select {
		case <-ctx.Done():
			return
		case text := <-n.orders:
			j, err := n.takeJob(text)
			if err != nil {
				n.refuseJob(text, err)
				continue
			}
			if j == nil {
				continue
			}
			n.jobEvent(record.JobResult{Job: j.ID, State: record.JobAccepted})
			if j.Verb == signed.VerbCancel {
				n.carryOut(ctx, j)
				continue
			}
			queue := runs
			if j.Verb == signed.VerbFacts || j.Verb == signed.VerbEvents {
				queue = tells
			}
			select {
			case queue <- j:
			default:
				n.finishJob(record.JobResult{Job: j.ID, State: record.JobRefused, Message: "too many jobs wait"})
			}
		}
	}
}

// takeJob returns a job that is to be carried out. It is remembered before that, so that it is carried out
// once. Nil means that nothing has to be said.
func (n *Node) takeJob(text []byte) (*signed.Job, error) {
	trust, err := n.trust()
	if err != nil {
		return nil, err
	}
	now := n.now()
	j := new(signed.Job)
	if _, err := trust.Open(text, now, j); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	digest := hex.EncodeToString(sum[:8])
	n.memory.mu.Lock()
	known, ok := n.memory.x.Jobs[j.ID]
	n.memory.mu.Unlock()
	if ok {
		if known.Digest == digest {
			return nil, nil // it was said again
		}
		return nil, &signed.RefusedError{Reason: signed.Replayed, Err: fmt.Errorf("the id of the job %s was used for another one", j.ID)}
	}
	if err := j.Means(n.identity.Name, n.holds); err != nil {
		if signed.ReasonOf(err) == signed.NotMeant {
			return nil, nil
		}
		return nil, err
	}
	checked := j.Check(now)
	err = n.memory.update(func(x *remembered) {
		if x.Jobs == nil {
			x.Jobs = map[string]job{}
		}
		for id, old := range x.Jobs {
			if now.After(old.Forget) {
				delete(x.Jobs, id)
			}
		}
		x.Jobs[j.ID] = job{Digest: digest, Forget: j.ForgetAt(), Open: checked == nil}
		if j.Created.After(x.Newest) && checked == nil {
			x.Newest = j.Created
		}
	})
	if err != nil {
		return nil, fmt.Errorf("the job could not be remembered, so it is not carried out: %w", err)
	}
	return j, checked
}

// refuseJob tells that a job is not carried out.
func (n *Node) refuseJob(text []byte, err error) {
	n.log.Warn("fleet: a job is refused: " + err.Error())
	j := new(signed.Job)
	if signed.Read(text, j) != nil {
		j.ID = ""
	}
	reason := signed.ReasonOf(err)
	state := record.JobRefused
	switch reason {
	case signed.Expired:
		state = record.JobExpired
	case signed.Replayed:
		n.problem(record.ReplayRefused, err.Error())
	case signed.ClockSkew:
	case "":
		if j.ID != "" {
			break
		}
		return
	default:
		n.problem(record.SignatureRefused, "job: "+err.Error())
	}
	n.jobEvent(record.JobResult{Job: j.ID, State: state, Reason: string(reason), Message: err.Error()})
}

// tellUnfinished tells of jobs that were begun when the agent ended.
func (n *Node) tellUnfinished() {
	n.memory.mu.Lock()
	var open []string
	for id, j := range n.memory.x.Jobs {
		if j.Open {
			open = append(open, id)
		}
	}
	n.memory.mu.Unlock()
	for _, id := range open {
		n.finishJob(record.JobResult{Job: id, State: record.JobDone, Outcome: "interrupted", Message: "the agent ended before the job did"})
	}
}

// carryOut carries out a job.
func (n *Node) carryOut(ctx context.Context, j *signed.Job) {
	r := record.JobResult{Job: j.ID, State: record.JobDone}
	switch j.Verb {
	case signed.VerbCancel:
		r.Outcome = "stable"
		if n.machine.Cancel() {
			r.Outcome = "changed"
		}
	case signed.VerbFacts:
		r.Outcome = "stable"
		if err := n.gatherFacts(ctx, true); err != nil {
			r.Outcome, r.Message = "failed", err.Error()
		}
	case signed.VerbEvents:
		n.tellEvents(ctx, j, &r)
	default:
		n.runJob(ctx, j, &r)
	}
	n.finishJob(r)
}

// runJob runs what the node has.
func (n *Node) runJob(ctx context.Context, j *signed.Job, r *record.JobResult) {
	mode := agent.Apply
	switch {
	case j.Verb == signed.VerbPlan || n.planOnly():
		mode = agent.Plan
	case j.MonitorOnly:
		mode = agent.Check
	}
	ends := ctx.Done()
	ctx, cancel := context.WithDeadline(ctx, time.Now().Add(max(0, j.Expires.Add(signed.Skew).Sub(n.now()))))
	defer cancel()
	type answer struct {
		results []*agent.Result
		err     error
	}
	answered := make(chan answer, 1)
	go func() {
		results, err := n.machine.Do(ctx, agent.Request{ID: j.ID, Reason: "job " + j.ID, Mode: mode, Targets: j.Targets})
		answered <- answer{results, err}
	}()
	var results []*agent.Result
	var err error
	select {
	case x := <-answered:
		results, err = x.results, x.err
	case <-ends: // the agent may wait for this very goroutine
		err = errors.New("the agent ends, or reads its configuration anew")
	}
	if err != nil {
		r.Outcome, r.Message = "failed", err.Error()
		if errors.Is(err, context.DeadlineExceeded) {
			r.State = record.JobExpired
		}
		return
	}
	r.Outcome = "stable"
	for _, x := range results {
		r.RunID = x.RunID
		r.Outcome = worse(r.Outcome, outcomeOf(x))
		addCounts(&r.Counts, x)
		for _, f := range x.Failed {
			if len(r.Failed) < record.MaxFailures {
				r.Failed = append(r.Failed, record.Failure{Resource: f.Resource, Message: f.Message})
			}
		}
		if x.Error != "" {
			r.Message = x.Error
		}
	}
}

// finishJob tells how a job ended, and that it has.
func (n *Node) finishJob(r record.JobResult) {
	n.jobEvent(r)
	err := n.memory.update(func(x *remembered) {
		if j, ok := x.Jobs[r.Job]; ok {
			j.Open = false
			x.Jobs[r.Job] = j
		}
	})
	if err != nil {
		n.log.Error("fleet: " + err.Error())
	}
}

// jobEvent tells of a job.
func (n *Node) jobEvent(r record.JobResult) {
	r.Protocol, r.Time = record.JobProtocol, n.o.Clock().UTC()
	if len(r.Message) > 1000 {
		r.Message = r.Message[:1000]
	}
	text, err := json.Marshal(r)
	if err != nil {
		return
	}
	n.outbox.add(text)
}
