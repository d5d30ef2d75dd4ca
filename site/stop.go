package site

import (
	"context"
	"errors"
)

// A StopSignal is closed when what is under way shall end. One that is nil never is.
type StopSignal <-chan struct{}

var (
	// ErrInterrupted is why nothing is done after a signal that came before a run.
	ErrInterrupted = errors.New("interrupted")
	// ErrLockInterrupted is [ErrInterrupted] for the wait for another run.
	ErrLockInterrupted = errors.New("interrupted while another run was waited for")
)

// asInterruption returns an error that came because the process shall end as
// [ErrInterrupted], and any other as it is.
func (s StopSignal) asInterruption(ctx context.Context, err error) error {
	if err == nil || !errors.Is(context.Cause(ctx), ErrInterrupted) && !s.isSet() {
		return err
	}
	return ErrInterrupted
}

// isSet reports whether the process shall end.
func (s StopSignal) isSet() bool {
	select {
	case <-s:
		return true
	default:
		return false
	}
}

// context returns a context that ends when the process shall end.
func (s StopSignal) context(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if s != nil {
		go func() {
			select {
			case <-s:
				cancel(ErrInterrupted)
			case <-ctx.Done():
			}
		}()
	}
	return ctx, func() { cancel(nil) }
}
