package main

import (
	"context"
	"fmt"
	"time"
)

// inputPatience is how long one input may take that is read, if nothing else is said.
const inputPatience = time.Minute

// reading is what ends the reading of inputs: of scripts, data, facts, templates and what
// else says what ccm is to do. Those that the shell has opened, such as <(...), may have
// nobody who writes.
type reading struct {
	ctx      context.Context // of the command; it ends with the first signal
	patience time.Duration   // with each input
}

// limit sets how long each input may take: as long as a script, and no longer than a run,
// unless that is 0.
func (r *reading) limit(script, run time.Duration) {
	r.patience = script
	if run > 0 {
		r.patience = min(script, run)
	}
}

// within sets what ends the reading, where no command line was read that has.
func (r *reading) within(ctx context.Context) {
	if r.ctx == nil {
		*r = reading{ctx, inputPatience}
	}
}

// begin returns the context in which one input is read.
func (r *reading) begin() (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(r.ctx, r.patience, &lateInput{r.patience})
}

// A lateInput says that an input takes longer than it may.
type lateInput struct{ limit time.Duration }

// Error says how long it may take.
func (e *lateInput) Error() string {
	return fmt.Sprintf("it does not end within %s (--eval-timeout and --timeout give it more time)", e.limit)
}

// readFile reads a file that the command line, a manifest, a template or an expression
// names, if it is believed. What is no file is refused: a device may have no end.
func (e *env) readFile(path string) ([]byte, error) {
	ctx, cancel := e.reading.begin()
	defer cancel()
	text, err := e.trust().ReadFile(ctx, path)
	return text, e.ifStopped(ctx, err)
}
