package main

import (
	"context"
	"time"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// A dealt is what became of one resource, and of what it brought with it.
type dealt struct {
	converge.Summary
	ID     string // of the run
	Events []*converge.Event
	lost   bool // the session could not be told of it
	wrong  bool // a function of ccm.after had a mistake
}

// Begin implements converge.Reporter.
func (*dealt) Begin(*resource.Resource, int, int) {}

// Event implements converge.Reporter.
func (d *dealt) Event(e *converge.Event) { d.Events = append(d.Events, e) }

// unmet reports whether something was skipped because of something that failed.
// Unlike in a run, nobody else tells of it.
func (d *dealt) unmet() bool {
	for _, e := range d.Events {
		if len(e.Unmet) > 0 {
			return true
		}
	}
	return false
}

// status returns the exit status.
func (d *dealt) status(detailed bool) status {
	code, _ := exitStatus(d.Summary, detailed).(status)
	if (d.unmet() || d.lost || d.wrong) && !d.Interrupted {
		code |= exitFailed
	}
	return code
}

// A burst is resources that are brought in order one by one without anybody else
// coming between: one lock, and one run in the history.
type burst struct {
	*record
	id  string
	sum converge.Summary
}

// open begins a burst, unless one is open.
func (s *single) open(ctx context.Context) (*burst, error) {
	if s.burst != nil {
		return s.burst, nil
	}
	id := newRunID(time.Now())
	rec, err := s.env.record(ctx, &s.f.runFlags, id, s.kind, "")
	if err != nil {
		return nil, err
	}
	s.burst = &burst{record: rec, id: id, sum: converge.Summary{Start: s.host.Now(), Noop: s.f.noop}}
	return s.burst, nil
}

// close ends the burst that is open. One in which nothing was dealt with leaves
// no record.
func (s *single) close() {
	b := s.burst
	if b == nil {
		return
	}
	s.burst = nil
	if b.sum.Total() == 0 && b.run != nil {
		s.env.recording = nil
		s.env.endWork()
		_ = b.lock.Unlock()
		return
	}
	b.sum.Took = s.host.Now().Sub(b.sum.Start)
	b.end(b.sum)
}

// converge runs an engine, or has it plan, as a part of b.
func (b *burst) converge(ctx context.Context, engine *converge.Engine, h *host.Host, c *catalog.Catalog) converge.Summary {
	engine.Cause = b.store.Cause("", b.root)
	if err := b.env.conceal(engine, b.store); err != nil {
		b.env.warn(err.Error()) // what is known is concealed anyway
	}
	if b.run != nil {
		b.run.Converges(c)
		engine.Cause = b.run.Cause
		engine.Journal, engine.LeftOver = b.run, b.run.LeftOver("", c)
		engine.Reporter = converge.Reporters{b.run, engine.Reporter}
	}
	engine.Reporter = &numbered{engine.Reporter, b}
	var sum converge.Summary
	if b.run == nil {
		sum = engine.Plan(ctx, &h.View, c)
	} else {
		sum = engine.Run(ctx, h, c)
	}
	b.sum.Interrupted = b.sum.Interrupted || sum.Interrupted
	return sum
}

// numbered counts the events of a burst through.
type numbered struct {
	converge.Reporter
	burst *burst
}

// Event implements converge.Reporter.
func (n *numbered) Event(e *converge.Event) {
	c := *e
	c.Index = n.burst.sum.Total()
	n.burst.sum.Add(&c)
	n.Reporter.Event(&c)
}
