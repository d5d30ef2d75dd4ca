package term

import (
	"os"
	"os/signal"
	"sync"
)

// interrupts are the keys Ctrl-C that a person presses while something is done.
type interrupts struct {
	signals chan os.Signal
	mu      sync.Mutex
	then    []func() // what the next ones do, the first first
}

// catchInterrupts takes the signal over from [main], where it means that the
// process shall end.
func catchInterrupts() *interrupts {
	signal.Reset(os.Interrupt)
	i := &interrupts{signals: make(chan os.Signal, 4)}
	signal.Notify(i.signals, os.Interrupt)
	go func() {
		for range i.signals {
			i.mu.Lock()
			if len(i.then) > 0 {
				i.then[0]()
				i.then = i.then[1:]
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

// set says what interrupts do from now on: the first does the first thing. It
// returns what they did before.
func (i *interrupts) set(then ...func()) (before []func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	before, i.then = i.then, then
	return before
}
