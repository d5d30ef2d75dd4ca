package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
)

// An activeRun is the present run.
type activeRun struct {
	run Run
	end func() // asks it to end
}

// loop runs queued runs, one after the other, until stop is closed.
func (a *Agent) loop(ctx context.Context, stop <-chan struct{}) error {
	defer a.queue.close()
	run, check, list := a.schedules()
	for {
		select {
		case <-stop:
			notify("STOPPING=1")
			return nil
		default:
		}
		if run.due(a.now()) {
			a.triggerAll(Apply, "the interval has passed")
		}
		if check.due(a.now()) {
			a.triggerAll(Check, "health checks are due")
		}
		if list.due(a.now()) {
			a.listUnmanaged(ctx, stop)
		}
		if j, t, ok := a.queue.next(); ok {
			if j != nil {
				a.carryOut(ctx, stop, j)
			} else {
				a.answer(ctx, stop, t)
			}
			continue
		}
		a.setWait(&run, &check)
		timer := time.NewTimer(a.untilNext(&run, &check, &list))
		select {
		case <-stop:
		case <-a.queue.wake:
		case <-timer.C:
		case <-a.reload:
			a.reconfigure(ctx)
			run, check, list = a.schedules()
		}
		timer.Stop()
	}
}

// A schedule has the time when something is due; never, if interval is 0.
type schedule struct {
	interval time.Duration
	next     time.Time
	at       *time.Duration // the local time of day, after midnight; nil for any
}

// daily returns the schedule of what is due each day at a time of day.
func daily(now time.Time, at time.Duration) schedule {
	s := schedule{interval: 24 * time.Hour, at: &at}
	s.next = s.after(now)
	return s
}

// after returns the next time after now: the next interval, or the time of day.
func (s *schedule) after(now time.Time) time.Time {
	if s.at == nil {
		return now.Add(s.interval)
	}
	y, m, d := now.Date()
	next := time.Date(y, m, d, 0, int(*s.at/time.Minute), 0, 0, now.Location())
	if !next.After(now) {
		next = time.Date(y, m, d+1, 0, int(*s.at/time.Minute), 0, 0, now.Location())
	}
	return next
}

// schedules returns the schedules of runs, of health checks and of lists of what no source describes. The first such list
// is made with the second run, since many machines restart more often than it is due.
func (a *Agent) schedules() (run, check, list schedule) {
	c, now := a.config, a.now()
	run = schedule{interval: c.Interval, next: now.Add(c.Interval + spread(a.options.Node, c.Splay))}
	check = schedule{interval: c.HealthInterval, next: now.Add(c.HealthInterval)}
	if c.UnmanagedAt != nil {
		return run, check, daily(now, *c.UnmanagedAt+spread(a.options.Node, c.Splay).Truncate(time.Minute))
	}
	return run, check, schedule{interval: c.UnmanagedInterval, next: run.next}
}

// due reports whether the time has come, and sets the next one. Times missed during a long run or
// while the machine slept count as one. If the clock was set back, it does not wait longer.
func (s *schedule) due(now time.Time) bool {
	if s.interval <= 0 {
		return false
	}
	if now.Before(s.next) {
		if s.next.Sub(now) > 2*s.interval+24*time.Hour {
			s.next = s.after(now)
		}
		return false
	}
	if s.next = s.after(s.next); s.next.Before(now) {
		s.next = s.after(now)
	}
	return true
}

// longestWait is the longest time until the agent looks at the clock again: the clock may be set,
// and timers do not run while a machine sleeps.
const longestWait = time.Minute

func (a *Agent) untilNext(list ...*schedule) time.Duration {
	wait := longestWait
	for _, s := range list {
		if s.interval > 0 {
			wait = min(wait, s.next.Sub(a.now()))
		}
	}
	return max(wait, time.Millisecond)
}

// setWait sets in the status until when nothing is due.
func (a *Agent) setWait(run, check *schedule) {
	due := func(s *schedule) *time.Time {
		if s.interval <= 0 || len(a.sources) == 0 {
			return nil
		}
		at := s.next
		return &at
	}
	a.status.mu.Lock()
	now := &a.status.now
	same := now.State == "waiting" && equalTimes(now.NextRun, due(run)) && equalTimes(now.NextCheck, due(check))
	a.status.mu.Unlock()
	if same {
		return
	}
	a.status.update(func(s *Status) {
		s.State, s.ActiveRun, s.NextRun, s.NextCheck = "waiting", nil, due(run), due(check)
	})
	notify("STATUS=waiting")
}

func equalTimes(a, b *time.Time) bool {
	return (a == nil) == (b == nil) && (a == nil || a.Equal(*b))
}

func (a *Agent) triggerAll(mode Mode, reason string) {
	for _, s := range a.sources {
		a.queue.trigger(s.Name(), mode, reason)
	}
}

// source returns the source of a name.
func (a *Agent) source(name string) Source {
	i := slices.IndexFunc(a.sources, func(s Source) bool { return s.Name() == name })
	if i < 0 {
		return nil
	}
	return a.sources[i]
}

// answer runs a source because of a trigger. After a critical health check it also runs the whole
// site. It does the same after a good check if the last run failed because of a check: resources
// skipped then are converged now.
func (a *Agent) answer(ctx context.Context, stop <-chan struct{}, t trigger) {
	source := a.source(t.source)
	if source == nil {
		return // it was removed from the configuration
	}
	r := a.run(ctx, stop, source, Request{Reason: t.reason, Mode: t.mode, Source: t.source})
	switch {
	case r == nil || t.mode != Check || r.Interrupted:
	case r.Health["critical"] > 0:
		a.metrics.count(metricRemediations, t.source)
		a.queue.trigger(t.source, Apply, "a health check is critical")
	case r.OK() && a.failedByCheck(t.source):
		a.queue.trigger(t.source, Apply, "health checks recovered")
	}
}

// failedByCheck reports whether the last run of a source failed because of a health check.
func (a *Agent) failedByCheck(source string) bool {
	a.status.mu.Lock()
	defer a.status.mu.Unlock()
	last := a.status.now.source(source).LastRun
	return last != nil && last.failedByCheck
}

// carryOut carries out a request.
func (a *Agent) carryOut(ctx context.Context, stop <-chan struct{}, j *job) {
	defer close(j.done)
	found := false
	for _, s := range a.sources {
		if j.request.Source != "" && j.request.Source != s.Name() {
			continue
		}
		found = true
		if j.err = context.Cause(j.ctx); j.err != nil {
			return
		}
		asked, cancel := either(stop, j.ctx.Done())
		r := a.run(ctx, asked, s, j.request)
		cancel()
		if r != nil {
			j.results = append(j.results, r)
		}
	}
	switch {
	case !found && j.request.Source != "":
		j.err = diag.NotFound("source", j.request.Source, nil)
	case len(j.results) == 0:
		j.err = errors.New("nothing to run yet")
	}
}

// either returns a channel that is closed when one of two is, and a function that ends the wait.
func either(a, b <-chan struct{}) (c <-chan struct{}, end func()) {
	closed, ended := make(chan struct{}), make(chan struct{})
	go func() {
		select {
		case <-a:
			close(closed)
		case <-b:
			close(closed)
		case <-ended:
		}
	}()
	return closed, sync.OnceFunc(func() { close(ended) })
}

// run runs a source; it returns nil if there is nothing to run.
func (a *Agent) run(ctx context.Context, stop <-chan struct{}, source Source, request Request) *Result {
	request.Source = source.Name()
	if request.Mode == Apply && a.config.Noop {
		request.Mode = Plan
	}
	site, release, ok := source.Take()
	if !ok {
		return nil // its poll has reported why
	}
	defer release()
	cancelled := make(chan struct{})
	asked, end := either(stop, cancelled)
	defer end()
	active := &activeRun{run: Run{Request: request, Site: site, Began: a.now()}, end: sync.OnceFunc(func() { close(cancelled) })}
	r := &active.run
	a.mu.Lock()
	a.current = active
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		a.current = nil
		a.mu.Unlock()
	}()
	a.status.update(func(s *Status) {
		s.State, s.ActiveRun = "running", &ActiveRun{Source: r.Source, Mode: r.Mode, Reason: r.Reason, Began: r.Began}
	})
	notify("STATUS=" + string(r.Mode) + " of " + r.Source)
	a.log.Debug(fmt.Sprintf("%s: %s, because %s", r.Source, r.Mode, r.Reason))
	result := a.perform(ctx, interruption{ask: asked, insist: ctx.Done()}, r)
	a.status.update(func(s *Status) {
		x := s.source(r.Source)
		a.tell(result)
		if r.Mode != Plan && result.Summary != nil {
			x.Unregistered = result.unregistered
		}
		switch {
		case r.Mode == Check:
			x.LastCheck = result
		case r.isWhole(result):
			x.LastRun, x.LastCheck = result, nil // the run included all checks
		default:
			x.LastRun = result
		}
		s.State, s.ActiveRun = "waiting", nil
	})
	return result
}

// isWhole reports whether a run has covered a whole source, with health checks.
func (r *Run) isWhole(result *Result) bool {
	return r.Mode == Apply && len(r.Targets) == 0 && result.Summary != nil && !result.Interrupted
}

// perform runs a site and returns the result.
func (a *Agent) perform(ctx context.Context, stop interruption, r *Run) *Result {
	result := &Result{Source: r.Source, Mode: r.Mode, Reason: r.Reason, Digest: r.Site.Digest, Began: r.Began}
	observers := a.options.Observers
	if a.fleet != nil {
		observers = append(slices.Clip(observers), a.fleet)
	}
	for _, o := range observers {
		o.RunBegins(r)
	}
	defer func() {
		result.Duration = a.now().Sub(r.Began)
		for _, o := range observers {
			o.RunEnded(r, result)
		}
		a.measure(result)
	}()
	data, err := a.dataOf(ctx, stop, r.Mode)
	if a.data != nil && !a.data.stale.IsZero() {
		stale := a.data.stale
		result.DataStale = &stale
	}
	if err != nil {
		result.Exit, result.Error = 1, message(err)
		return result
	}
	exit, words, err := a.runner.run(r, data, a.config.Context, stop, func(text []byte) {
		a.take(r, result, text)
		for _, o := range observers {
			o.RunLine(r, text)
		}
	})
	result.Exit = exit
	switch {
	case err != nil:
		result.Exit, result.Error = max(exit, 1), message(err)
	case exit == -1:
		result.Error = "killed by a signal"
	case exit != 0 && exit != 130 && result.Summary == nil:
		result.Error = strings.TrimSpace(words)
	case r.Mode != Check:
		a.warn(r, words)
	}
	result.Interrupted = result.Interrupted || exit == 130
	if r.isWhole(result) {
		a.failures.retain(r)
	}
	if r.Mode != Plan && result.Summary != nil {
		a.warnOfServices(r.Source, result.unregistered)
	}
	return result
}

// dataOf returns the file of external data. Health checks use the present file.
func (a *Agent) dataOf(ctx context.Context, stop interruption, mode Mode) (string, error) {
	if a.data == nil {
		return "", nil
	}
	if mode == Check {
		return a.data.path(), nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-stop.ask:
			cancel()
		case <-ctx.Done():
		}
	}()
	return a.prepareData(ctx)
}
