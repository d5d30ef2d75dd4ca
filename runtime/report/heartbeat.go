package report

import (
	"sync"
	"time"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/terminal"
)

// A Heartbeat prints from time to time how long the current resource of a run, or the reading of the
// script or manifest, has taken. It is for outputs without a [StatusLine].
type Heartbeat struct {
	W        terminal.Printer
	Interval time.Duration

	mu        sync.Mutex
	current   string // "" between resources
	startTime time.Time
	timer     *time.Timer
}

var _ event.ActionReporter = (*Heartbeat)(nil)

// BeforeAction implements event.ActionReporter.
func (h *Heartbeat) BeforeAction(r *resource.Resource, _, _ int) { h.BeginSite(r.ID.String()) }

// BeginSite begins the reading of a script or manifest.
func (h *Heartbeat) BeginSite(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.current, h.startTime = name, time.Now()
	if h.timer == nil {
		h.timer = time.AfterFunc(h.Interval, h.tell)
	} else {
		h.timer.Reset(h.Interval)
	}
}

// tell prints how long the current resource has taken.
func (h *Heartbeat) tell() {
	h.mu.Lock()
	defer h.mu.Unlock()
	took := time.Since(h.startTime)
	if h.current == "" || took < h.Interval { // the timer was for an earlier resource
		return
	}
	_, _ = h.W.Print(terminal.Sprintf("%s: running for %s\n", h.current, took.Round(h.Interval)))
	h.timer.Reset(h.Interval)
}

// Event implements event.Reporter.
func (h *Heartbeat) Event(*event.Event) { h.EndSite() }

// EndSite ends the reading of a script or manifest.
func (h *Heartbeat) EndSite() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.current = ""; h.timer != nil {
		h.timer.Stop()
	}
}
