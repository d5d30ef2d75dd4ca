package node

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/luaccm/ccm/fleet/agent"
	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/fleet/subject"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/sha256sum"
)

// jobs are the jobs of operators. Each is carried out once.
type jobs struct {
	member *member
	report *report
	outbox *outbox
	holds  func(condition string) (bool, error)
	// planOnly reports whether the node must not change anything.
	planOnly func() bool
	orders   chan []byte // texts of received jobs
	// refused are the digests of the last refused jobs, with reasons: the last job of an
	// environment is read again and again, and its refusal is reported once. Only the goroutine
	// that takes jobs uses it.
	refused []string
}

// maxRefused is the number of refused jobs that are remembered.
const maxRefused = 64

// ordered receives the message with a job.
func (q *jobs) ordered(m *nats.Msg) {
	select {
	case q.orders <- m.Data:
	default: // operators send a job again to nodes that do not answer
		q.member.log.Warn("fleet: too many jobs at a time, one was dropped")
	}
}

// readLast reads the last jobs, which may have been sent while there was no connection.
func (q *jobs) readLast(ctx context.Context) {
	env, name := q.member.identity.Environment, q.member.identity.Name
	for _, of := range []string{subject.Job(env, ""), subject.Job(env, name)} {
		m, err := direct.Last(ctx, q.member.conn, subject.Jobs, of)
		if err != nil {
			continue // there is none, or it is read again later
		}
		select {
		case q.orders <- m.Data:
		case <-ctx.Done():
			return
		}
	}
}

// run carries out jobs. Jobs with runs are carried out one after the other; a cancel does not
// wait for them.
func (q *jobs) run(ctx context.Context) {
	q.tellUnfinished()
	// Jobs without runs do not wait for runs.
	var workers sync.WaitGroup
	defer workers.Wait()
	worker := func() chan<- *signed.Job {
		queue := make(chan *signed.Job, 64)
		workers.Go(func() {
			for j := range queue {
				q.carryOut(ctx, j)
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
		case text := <-q.orders:
			j, err := q.take(text)
			if err != nil {
				q.refuse(text, err)
				continue
			}
			if j == nil {
				continue
			}
			q.tell(record.JobResult{Job: j.ID, State: record.JobAccepted})
			if j.Verb == signed.VerbCancel {
				q.carryOut(ctx, j)
				continue
			}
			queue := runs
			if j.Verb == signed.VerbFacts || j.Verb == signed.VerbEvents {
				queue = tells
			}
			select {
			case queue <- j:
			default:
				q.finish(record.JobResult{Job: j.ID, State: record.JobRefused, Message: "too many queued jobs"})
			}
		}
	}
}

// take checks a job and returns it to be carried out. It records the job first, so that it is
// carried out only once. Nil means that there is nothing to do or to report.
func (q *jobs) take(text []byte) (*signed.Job, error) {
	trust, err := q.member.trust()
	if err != nil {
		return nil, err
	}
	now := q.member.now()
	j := new(signed.Job)
	if _, err := trust.Open(text, now, j); err != nil {
		return nil, err
	}
	// A valid signature ends the problem of earlier refusals; these are in the events.
	q.member.problems.clear(record.SignatureRefused, aboutJob)
	digest := sha256sum.Short(string(text), 8)
	q.member.memory.mu.Lock()
	known, ok := q.member.memory.x.Jobs[j.ID]
	q.member.memory.mu.Unlock()
	if ok {
		if known.Digest == digest {
			return nil, nil // it was sent again
		}
		return nil, &signed.RefusedError{Reason: signed.Replayed, Err: diag.Already("the job id "+j.ID, "used for another job")}
	}
	if err := j.Means(q.member.identity.Name, q.holds); err != nil {
		if signed.ReasonOf(err) == signed.NotMeant {
			return nil, nil
		}
		return nil, err
	}
	checked := j.Check(now)
	err = q.member.memory.update(func(x *memoryContent) {
		if x.Jobs == nil {
			x.Jobs = map[string]job{}
		}
		for id, old := range x.Jobs {
			if now.After(old.Forget) {
				delete(x.Jobs, id)
			}
		}
		x.Jobs[j.ID] = job{Digest: digest, Forget: j.ForgetAt(), Open: checked == nil}
		if j.CreateTime.After(x.Newest) && checked == nil {
			x.Newest = j.CreateTime
		}
	})
	if err != nil {
		return nil, diag.Cannot("record", "the job, so it was not run", err)
	}
	return j, checked
}

// refuse reports that a job is not carried out.
func (q *jobs) refuse(text []byte, err error) {
	reason := signed.ReasonOf(err)
	if digest := sha256sum.Short(string(reason)+"\n"+string(text), 8); slices.Contains(q.refused, digest) {
		return
	} else if q.refused = append(q.refused, digest); len(q.refused) > maxRefused {
		q.refused = q.refused[1:]
	}
	q.member.log.Warn("fleet: job refused: " + err.Error())
	j := new(signed.Job)
	if signed.Read(text, j) != nil {
		j.ID = ""
	}
	state := record.JobRefused
	switch reason {
	case signed.Expired:
		state = record.JobExpired
	case signed.Replayed:
		q.member.problems.set(record.ReplayRefused, err.Error())
	case signed.ClockSkew:
	case "":
		if j.ID != "" {
			break
		}
		return
	default:
		q.member.problems.setAbout(aboutJob, record.Problem{Code: record.SignatureRefused, Message: err.Error()})
	}
	q.tell(record.JobResult{Job: j.ID, State: state, Reason: string(reason), Message: err.Error()})
}

// tellUnfinished reports the jobs that were not finished when the agent ended.
func (q *jobs) tellUnfinished() {
	q.member.memory.mu.Lock()
	var open []string
	for id, j := range q.member.memory.x.Jobs {
		if j.Open {
			open = append(open, id)
		}
	}
	q.member.memory.mu.Unlock()
	for _, id := range open {
		q.finish(record.JobResult{Job: id, State: record.JobDone, Outcome: "interrupted", Message: "the agent stopped before the job finished"})
	}
}

// carryOut carries out a job.
func (q *jobs) carryOut(ctx context.Context, j *signed.Job) {
	r := record.JobResult{Job: j.ID, State: record.JobDone}
	switch j.Verb {
	case signed.VerbCancel:
		r.Outcome = "stable"
		if q.member.machine.Cancel() {
			r.Outcome = "changed"
		}
	case signed.VerbFacts:
		r.Outcome = "stable"
		if err := q.report.gatherFacts(ctx, true); err != nil {
			r.Outcome, r.Message = "failed", err.Error()
		}
	case signed.VerbEvents:
		q.replayEvents(ctx, j, &r)
	default:
		q.apply(ctx, j, &r)
	}
	q.finish(r)
}

// apply runs or plans the node's release.
func (q *jobs) apply(ctx context.Context, j *signed.Job, r *record.JobResult) {
	mode := agent.Apply
	switch {
	case j.Verb == signed.VerbPlan || q.planOnly():
		mode = agent.Plan
	case j.MonitorOnly:
		mode = agent.Check
	}
	ends := ctx.Done()
	ctx, cancel := context.WithDeadline(ctx, time.Now().Add(max(0, j.Expires.Add(signed.Skew).Sub(q.member.now()))))
	defer cancel()
	type answer struct {
		results []*agent.Result
		err     error
	}
	answered := make(chan answer, 1)
	go func() {
		results, err := q.member.machine.Do(ctx, agent.Request{ID: j.ID, Reason: "job " + j.ID, Mode: mode, Targets: j.Targets})
		answered <- answer{results, err}
	}()
	var results []*agent.Result
	var err error
	select {
	case x := <-answered:
		results, err = x.results, x.err
	case <-ends: // the agent may be waiting for this goroutine
		err = errors.New("the agent is stopping or reloading its configuration")
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
		for _, f := range x.Failures {
			if len(r.Failures) < record.MaxFailures {
				r.Failures = append(r.Failures, record.Failure{Resource: f.Resource, Message: f.Message})
			}
		}
		if x.Error != "" {
			r.Message = x.Error
		}
	}
}

// finish reports the result of a job, and records that it ended.
func (q *jobs) finish(r record.JobResult) {
	q.tell(r)
	err := q.member.memory.update(func(x *memoryContent) {
		if j, ok := x.Jobs[r.Job]; ok {
			j.Open = false
			x.Jobs[r.Job] = j
		}
	})
	if err != nil {
		q.member.log.Error("fleet: " + err.Error())
	}
}

// tell reports the state of a job.
func (q *jobs) tell(r record.JobResult) {
	r.Protocol, r.Time = record.JobProtocol, q.member.options.Clock().UTC()
	if len(r.Message) > 1000 {
		r.Message = r.Message[:1000]
	}
	text, err := json.Marshal(r)
	if err != nil {
		return
	}
	if r.State == record.JobAccepted { // the result may follow in the same message
		q.outbox.add(text)
	} else {
		q.outbox.addPromptly(text)
	}
}
