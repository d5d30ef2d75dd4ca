package manifest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/words"
)

// A timeoutError is the error that reading a manifest takes longer than the limit.
type timeoutError struct{ limit time.Duration }

// Error names the limit.
func (e *timeoutError) Error() string {
	return fmt.Sprintf("manifest exceeded the time limit of %s", words.Duration(e.limit))
}

// Hint names the flag that raises the limit.
func (*timeoutError) Hint() string { return "raise it with --eval-timeout" }

// Unwrap returns context.DeadlineExceeded.
func (*timeoutError) Unwrap() error { return context.DeadlineExceeded }

// maxMemory is the memory in bytes that reading a manifest may take.
const maxMemory = 1 << 30

var errMemory = diag.Exceeded("manifest", "memory", fmt.Sprintf("%d MiB", maxMemory>>20))

// deadline returns a check that fails when the time or memory for the manifest is over.
func (r *reader) deadline() func() error {
	ctx, limit, waited := r.ctx, r.loader.Timeout, r.loader.WaitTime
	if waited == nil {
		waited = func() time.Duration { return 0 }
	}
	end := time.Now().Add(limit - waited())
	return func() error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if r.full.Load() {
			return errMemory
		}
		if limit > 0 && time.Now().After(end.Add(waited())) {
			return &timeoutError{limit}
		}
		return nil
	}
}

// positionTimeout gives the error of a deadline a position.
func (r *reader) positionTimeout(err error) error {
	if e, ok := errors.AsType[*timeoutError](err); ok {
		return diag.Errorf(diag.Pos{File: r.Name, Line: 1}, "%w", e).WithHint("%s", e.Hint())
	}
	return err
}
