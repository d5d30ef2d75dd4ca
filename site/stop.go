package site

import (
	"context"
	"errors"
	"sync"

	"github.com/luaccm/ccm/runtime/diag"
)

// A StopSignal is closed when the present work has to end. A nil one is never closed.
type StopSignal <-chan struct{}

var (
	// ErrInterrupted is the error of work that a signal ended before the run.
	ErrInterrupted = diag.Interrupted("")
	// ErrLockInterrupted is [ErrInterrupted] during the wait for another run.
	ErrLockInterrupted = diag.Interrupted("while waiting for another run")
)

// A mergedStop is a StopSignal that is closed when another one is, or by set.
type mergedStop struct {
	signal StopSignal
	set    func()
	end    func() // the other signal does not count any more
}

func newMergedStop(other StopSignal) *mergedStop {
	signal, ended := make(chan struct{}), make(chan struct{})
	m := &mergedStop{
		signal: signal,
		set:    sync.OnceFunc(func() { close(signal) }),
		end:    sync.OnceFunc(func() { close(ended) }),
	}
	if other.IsSet() {
		m.set()
	} else if other != nil {
		go func() {
			select {
			case <-other:
				m.set()
			case <-ended:
			}
		}()
	}
	return m
}

// Interruption returns [ErrInterrupted] for an error caused by the stop of the process, and any
// other error as it is.
func (s StopSignal) Interruption(ctx context.Context, err error) error {
	if err == nil || !errors.Is(context.Cause(ctx), ErrInterrupted) && !s.IsSet() {
		return err
	}
	return ErrInterrupted
}

// IsSet reports whether the process has to end.
func (s StopSignal) IsSet() bool {
	select {
	case <-s:
		return true
	default:
		return false
	}
}

// Context returns a context that ends when the process has to end. It is for work before a run, which may be cut off.
func (s StopSignal) Context(ctx context.Context) (context.Context, func()) {
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
