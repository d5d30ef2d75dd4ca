package template

import (
	"bytes"
	"sync/atomic"
	"time"

	"github.com/nikolalohinski/gonja/v2/exec"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/heap"
)

// Limits of Jinja templates.
const (
	maxReads = 1000    // of templates that templates include
	maxRange = 100_000 // numbers that range gives
	maxWidth = 10_000  // the maximum of widths and of other numbers that enlarge results

	maxJinjaMemory = 1 << 30 // bytes that the values of a template take
)

// jinjaGrace is the time in which a template that has to end may finish its present step.
const jinjaGrace = 200 * time.Millisecond

var errJinjaMemory = diag.Exceeds("template", "%d bytes of memory", maxJinjaMemory)

// A rendering is the rendering of one template with the included ones. The Jinja library has no
// limits. Therefore calls that check limits are inserted into the parsed template (see instrument)
// and around the library's functions (see environment).
type rendering struct {
	file, text   string
	readFile     func(path string) ([]byte, error)
	reads        int // of templates
	steps        int
	line         int                   // the line that is being evaluated
	leftOperands []*exec.Value         // operands whose other operand is being evaluated
	stop         atomic.Pointer[error] // the reason to end
}

// A limitError ends a rendering. It is a panic, because a template can go on after an error.
type limitError struct{ error }

// renderUntil renders until the end, or until check or the memory limit ends the rendering. A
// single step of the library cannot be stopped: it is abandoned, and its result is not used.
func (r *rendering) renderUntil(check func() error, vars map[string]any) (string, error) {
	type result struct {
		text string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := r.render(vars)
		done <- result{text, err}
	}()
	full := make(chan struct{})
	bound := heap.Watch(maxJinjaMemory, func() { close(full) })
	defer bound.Stop()
	tick := time.NewTicker(heap.Interval)
	defer tick.Stop()
	var err error
	for err == nil {
		select {
		case got := <-done:
			return got.text, got.err
		case <-full:
			err = errJinjaMemory
		case <-tick.C:
			err = check()
		}
	}
	r.stop.Store(&err)
	select {
	case <-done:
	case <-time.After(jinjaGrace):
	}
	return "", err
}

// throw ends the rendering.
func (r *rendering) throw(err error) { panic(limitError{err}) }

// panicError returns the error, with its place, for the panic that ended the rendering.
func (r *rendering) panicError(p any) error {
	if limit, ok := p.(limitError); ok {
		return diag.Errorf(diag.Pos{File: r.file, Line: r.line}, "%w", limit.error)
	}
	return jinjaError(r.file, r.text, panicError(p))
}

// step counts one step.
func (r *rendering) step() {
	if err := r.stop.Load(); err != nil {
		r.throw(*err)
	}
	if r.steps++; r.steps > maxSteps {
		r.throw(diag.Exceeds("template", "%d steps", maxSteps))
	}
	if r.steps%nestingEvery == 0 && nested() {
		r.throw(errNested)
	}
}

// checkRoom ends the rendering if a text of n parts of size bytes each is too long to be made.
func (r *rendering) checkRoom(n, size int) {
	if err := tooLong(n, size); err != nil {
		r.throw(err)
	}
}

// A limitedBuffer takes as much as a template may write.
type limitedBuffer struct{ bytes.Buffer }

// Write implements io.Writer.
func (b *limitedBuffer) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxOutput {
		return 0, errTooLong
	}
	return b.Buffer.Write(p)
}

// WriteString implements io.StringWriter.
func (b *limitedBuffer) WriteString(s string) (int, error) { return b.Write([]byte(s)) }

// checkRange returns an error if range would give too many numbers.
func checkRange(args []*exec.Value) error {
	var n []int
	for _, a := range args {
		if !a.IsInteger() {
			return nil // range refuses the value
		}
		n = append(n, a.Integer())
	}
	start, stop, step := 0, 0, 1
	switch len(n) {
	case 1:
		stop = n[0]
	case 2:
		start, stop = n[0], n[1]
	case 3:
		start, stop, step = n[0], n[1], n[2]
	}
	if step == 0 {
		return diag.SubjectCannot("step", "be 0")
	}
	if items := (float64(stop) - float64(start)) / float64(step); items > maxRange {
		return diag.Exceeds("range", "%d numbers", maxRange)
	}
	return nil
}
