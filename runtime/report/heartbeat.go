package report

import (
	"sync"
	"time"

	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/terminal"
)

// A Heartbeat says from time to time how long the current resource of a run takes already,
// where no [StatusLine] does.
type Heartbeat struct {
	W     terminal.Printer
	Every time.Duration

	mu      sync.Mutex
	current *resource.Resource // nil between resources
	begun   time.Time
	timer   *time.Timer
}

var _ converge.Reporter = (*Heartbeat)(nil)

// Begin implements converge.Reporter.
func (h *Heartbeat) Begin(r *resource.Resource, _, _ int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.current, h.begun = r, time.Now()
	if h.timer == nil {
		h.timer = time.AfterFunc(h.Every, h.tell)
	} else {
		h.timer.Reset(h.Every)
	}
}

// tell prints a line.
func (h *Heartbeat) tell() {
	h.mu.Lock()
	defer h.mu.Unlock()
	took := time.Since(h.begun)
	if h.current == nil || took < h.Every { // it was called for the one before
		return
	}
	_, _ = h.W.Print(terminal.Sprintf("%s: running for %s\n", h.current.ID, took.Round(h.Every)))
	h.timer.Reset(h.Every)
}

// Event implements converge.Reporter.
func (h *Heartbeat) Event(*converge.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.current = nil; h.timer != nil {
		h.timer.Stop()
	}
}
