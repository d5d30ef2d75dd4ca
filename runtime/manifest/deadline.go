package manifest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
)

// A lateError says that a manifest takes longer than it may.
type lateError struct{ limit time.Duration }

// Error says how long it may take.
func (e *lateError) Error() string { return fmt.Sprintf("the manifest is not done after %s", e.limit) }

// Hint says what gives it more time.
func (*lateError) Hint() string { return "--eval-timeout gives it more time" }

// Unwrap returns context.DeadlineExceeded.
func (*lateError) Unwrap() error { return context.DeadlineExceeded }

// deadline returns what tells whether the manifest may be read on.
func (r *reader) deadline() func() error {
	ctx, limit := r.ctx, r.loader.Timeout
	end := time.Now().Add(limit)
	return func() error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if limit > 0 && time.Now().After(end) {
			return &lateError{limit}
		}
		return nil
	}
}

// late gives the error of a deadline a place.
func (r *reader) late(err error) error {
	if e, ok := errors.AsType[*lateError](err); ok {
		return diag.Errorf(diag.Pos{File: r.Name, Line: 1}, "%w", e).WithHint("%s", e.Hint())
	}
	return err
}
