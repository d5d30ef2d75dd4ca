package term

import (
	"os"
	"os/signal"
	"sync"
)

// interrupts handle Ctrl-C while a command runs.
type interrupts struct {
	signals  chan os.Signal
	mu       sync.Mutex
	handlers []func() // handlers of the next interrupts, in order
}

// catchInterrupts handles the interrupt signal, which otherwise ends the process.
func catchInterrupts() *interrupts {
	signal.Reset(os.Interrupt)
	i := &interrupts{signals: make(chan os.Signal, 4)}
	signal.Notify(i.signals, os.Interrupt)
	go func() {
		for range i.signals {
			i.mu.Lock()
			if len(i.handlers) > 0 {
				i.handlers[0]()
				i.handlers = i.handlers[1:]
			}
			i.mu.Unlock()
		}
	}()
	return i
}

func (i *interrupts) release() {
	signal.Stop(i.signals)
	close(i.signals)
}

// set sets the handlers of the next interrupts, in order. It returns the handlers before.
func (i *interrupts) set(then ...func()) (before []func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	before, i.handlers = i.handlers, then
	return before
}
