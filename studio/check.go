package studio

import (
	"context"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/report/graph"
	"github.com/luaccm/ccm/studio/model"
)

const (
	// checkTimeout and checkMemory limit the evaluation of an edited text: a loop that was just
	// typed must not hold up the page.
	checkTimeout = 10 * time.Second
	checkMemory  = 512 << 20
	// checkPatience is how long an answer waits for the check of its text.
	checkPatience = 250 * time.Millisecond
)

// A checkResult is the result of checking one revision of a file.
type checkResult struct {
	rev      int
	mistakes []diagnosis
	order    *order // nil with mistakes, and for files that declare nothing
	declared map[diag.Pos][]declaredResource
	derived  *DerivedText
	types    model.Types // defined by the site
	duration time.Duration
}

// An order has the resources of a catalog in their order, and their dependencies.
type order struct {
	resources []declaredResource
	edges     []graph.Edge
}

// A pendingCheck is a running check.
type pendingCheck struct {
	rev    int
	cancel func()
	done   chan struct{} // closed at its end
	result *checkResult  // nil if it was abandoned
}

// checkSoon checks the text and waits a moment for the result. The caller holds the document. With
// refresh it starts again even if a check is running, because a dependency of the text has changed.
func (w *workspace) checkSoon(ctx context.Context, d *document, refresh bool) {
	if !w.gate.isTrusted() {
		return
	}
	if p := d.pending; p == nil || refresh || p.rev != d.rev {
		if p != nil {
			p.cancel()
		}
		d.pending = w.beginCheck(d)
		go w.reportLateCheck(d, d.pending)
	}
	patience := time.NewTimer(checkPatience)
	defer patience.Stop()
	select {
	case <-d.pending.done:
		w.noteChecked(d, d.pending)
	case <-ctx.Done():
	case <-patience.C:
	}
}

// beginCheck begins a check of the text. The caller holds the document.
func (w *workspace) beginCheck(d *document) *pendingCheck {
	within, cancel := context.WithTimeout(w.ctx, checkTimeout+jobGrace)
	p := &pendingCheck{rev: d.rev, cancel: cancel, done: make(chan struct{})}
	c := &check{by: w.evaluator, name: d.name, kind: kindOf(d.name, &d.text), rev: d.rev, language: languageOf(d.name), texts: w.editedTexts(d)}
	go func() {
		defer cancel()
		defer close(p.done)
		w.evaluation <- struct{}{}
		defer func() { <-w.evaluation }()
		if within.Err() == nil {
			p.result = c.run(within)
		}
	}()
	return p
}

// reportLateCheck reports the result of a check that took longer than the answer waited.
func (w *workspace) reportLateCheck(d *document, p *pendingCheck) {
	<-p.done
	d.mu.Lock()
	defer d.mu.Unlock()
	if w.noteChecked(d, p) {
		st := d.state()
		st.Base = d.rev
		w.hub.send("state", st)
	}
}

// noteChecked stores the result of a check, and reports whether it is new and about the present
// text. The caller holds the document.
func (w *workspace) noteChecked(d *document, p *pendingCheck) bool {
	if d.pending != p {
		return false
	}
	d.pending = nil
	c := p.result
	if c == nil || c.rev != d.rev {
		return false
	}
	if c.derived != nil && !c.derived.Current && d.checked != nil && d.checked.derived != nil {
		c.derived.Text = d.checked.derived.Text // the derived text stays
	}
	d.checked = c
	return true
}

// recheckAll checks all open files again, because a dependency of them has changed.
func (w *workspace) recheckAll() { w.recheckOthers(nil) }

// recheckOthers checks all open files but one again.
func (w *workspace) recheckOthers(but *document) {
	w.mu.Lock()
	var list []*document
	for _, d := range w.documents {
		if d != but {
			list = append(list, d)
		}
	}
	w.mu.Unlock()
	go func() {
		for _, d := range list {
			d.mu.Lock()
			w.checkSoon(w.ctx, d, true)
			if d.checked != nil && d.checked.rev == d.rev {
				st := d.state()
				st.Base = d.rev
				w.hub.send("state", st)
			}
			d.mu.Unlock()
		}
	}()
}

// editedTexts returns the unsaved texts, and the text of d. The caller holds d, which may be nil.
func (w *workspace) editedTexts(d *document) map[string]string {
	out := map[string]string{}
	if d != nil {
		out[w.evaluator.pathOf(d.name)] = d.text
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, other := range w.documents {
		if other == d || !other.mu.TryLock() {
			continue // being edited: its own check reports the new text
		}
		if !other.saved() && other.diskState != "gone" {
			out[w.evaluator.pathOf(other.name)] = other.text
		}
		other.mu.Unlock()
	}
	return out
}
