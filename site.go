package ccm

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/site"
)

// ErrFailed is in the last error of a run or plan in which a resource failed. Failures that a resource
// declares to be ignored (ignore_failure) do not count.
var ErrFailed = diag.Failed("a resource", nil)

// A Site is a script or manifest that [Load] has read. Its resources and facts do not change after that: load it
// again for another run. A Site is not safe for use by several goroutines at once.
type Site struct {
	process *site.Process
	own     bool // the process is of this site alone
	run     *site.Run
	output  *secret.Writer
	cancel  context.CancelCauseFunc // of the context of the site
	ctx     context.Context
	ended   bool
	first   *event.Event // the first failure of the present walk
	errs    []error      // of functions of scripts in the present walk
}

// detach returns the context for all work on the site. It outlives ctx, but while the returned function was not
// called, the end of ctx ends it.
func (s *Site) detach(ctx context.Context) (context.Context, func()) {
	if s.ctx == nil {
		s.ctx, s.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	}
	stop := context.AfterFunc(ctx, func() { s.cancel(context.Cause(ctx)) })
	return s.ctx, func() { stop() }
}

// Resources returns the resources of the site in the order in which they are applied.
func (s *Site) Resources() []Resource {
	var list []Resource
	for _, r := range s.run.Site.Catalog.Resources {
		list = append(list, newResource(r))
	}
	return list
}

// Plan yields an event for each resource with what [Site.Run] would do. It changes nothing and takes no lock.
// An error is the last element: why no plan exists, or an [ErrFailed] if a resource would fail. Plan may be
// called several times before Run.
func (s *Site) Plan(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		s.walk(ctx, yield, func(ctx context.Context, f *forwarder) (event.Summary, error) {
			if s.run.IsPlan() {
				if err := s.run.Begin(ctx); err != nil {
					return event.Summary{}, err
				}
				return s.run.Converge(ctx, f), nil
			}
			return s.run.Plan(ctx, f)
		})
	}
}

// Run applies the site, and yields an event for each resource once it is finished. An error is the last element:
// the reason why nothing was done, an [ErrFailed] if a resource failed, or the cause of the context.
//
// Leaving the loop ends the run after the resources that are being worked on: files, for example, are written in
// groups. The end of the context ends it at once, with the commands that are running. Either way, what was done is
// recorded in the state directory.
func (s *Site) Run(ctx context.Context) iter.Seq2[Event, error] {
	if s.run.IsPlan() {
		return s.Plan(ctx)
	}
	return func(yield func(Event, error) bool) {
		if s.ended {
			yield(Event{}, diag.Already("the site", "run or closed (load it again)"))
			return
		}
		s.ended = true
		s.walk(ctx, yield, func(ctx context.Context, f *forwarder) (event.Summary, error) {
			defer s.run.End()
			if err := s.run.Begin(ctx); err != nil {
				return event.Summary{}, err
			}
			return s.run.Converge(ctx, f), nil
		})
	}
}

// walk calls a function that plans or runs the site, and yields its events and its error.
func (s *Site) walk(
	ctx context.Context, yield func(Event, error) bool, walk func(context.Context, *forwarder) (event.Summary, error),
) {
	inner, during := s.detach(ctx)
	defer during()
	s.first, s.errs = nil, nil
	f := &forwarder{site: s, yield: yield}
	sum, err := walk(inner, f)
	_ = s.output.Flush() // the program knows whether its writer fails
	if err == nil {
		err = s.failure(ctx, sum)
	}
	if err != nil && !f.done {
		yield(Event{}, placed(err, s.process.Secrets))
	}
}

// note notes a failed resource.
func (s *Site) note(e *event.Event) {
	if s.first == nil {
		s.first = e.Clone()
	}
}

// explain takes the error of a function of a script.
func (s *Site) explain(err error) { s.errs = append(s.errs, err) }

// failure returns why a walk did not succeed, nil if it did.
func (s *Site) failure(ctx context.Context, sum event.Summary) error {
	errs := s.errs
	switch {
	case s.run != nil && s.run.TimedOut():
		errs = append(errs, fmt.Errorf("the run exceeded its time limit: %w", context.DeadlineExceeded))
	case sum.Interrupted && ctx.Err() != nil:
		errs = append(errs, context.Cause(ctx))
	case sum.Interrupted:
		errs = append(errs, site.ErrInterrupted)
	}
	if n := sum.Of(event.Failed) - sum.Ignored; n > 0 && s.first != nil {
		more := ""
		if n > 1 {
			more = fmt.Sprintf(" (and %d more)", n-1)
		}
		errs = append(errs, fmt.Errorf("%w: %s: %w%s", ErrFailed, s.first.Resource.ID, s.first.Err, more))
	}
	if s.run != nil {
		errs = append(errs, s.run.Idempotence())
	}
	return errors.Join(errs...)
}

// Close releases what the site holds, such as the lock of the state directory. It may be called again.
func (s *Site) Close() {
	s.ended = true
	s.run.End()
	s.release()
}

// release ends the context of the site, and the connections of a process of its own.
func (s *Site) release() {
	s.cancel(nil)
	if s.own {
		s.process.Close()
	}
}

// Unwrap returns the run in the form that the command ccm uses. It does not follow semantic versions.
func (s *Site) Unwrap() *site.Run { return s.run }

// A forwarder yields the events of a walk.
type forwarder struct {
	site  *Site
	yield func(Event, error) bool
	done  bool
}

// Event implements event.Reporter.
func (f *forwarder) Event(e *event.Event) {
	if e.Fails() {
		f.site.note(e)
	}
	if f.done {
		return
	}
	f.done = true // if the loop panics too
	if f.yield(newEvent(e), nil) {
		f.done = false
		return
	}
	f.site.run.Stop()
}

func newResource(r *resource.Resource) Resource {
	return Resource{Type: r.ID.Type, Name: r.ID.Name, File: r.Pos.File, Line: r.Pos.Line, Column: r.Pos.Col}
}
