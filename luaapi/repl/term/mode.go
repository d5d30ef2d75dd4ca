package term

import (
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"
)

// A Mode is the mode of a terminal before lines are edited on it. It is restored at the end of the
// process, from any place that ends the process. Without begin there is nothing to restore.
type Mode struct {
	mu       sync.Mutex
	fd       int
	original *term.State
	over     bool // the process ends
	// changing is set while the library for lines is about to change the mode.
	changing atomic.Bool
}

// begin stores the mode of a terminal.
func (m *Mode) begin(fd int) error {
	state, err := term.GetState(fd)
	if err == nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.fd, m.original = fd, state
	}
	return err
}

// suspend restores the original mode for another program, until resume is called.
func (m *Mode) suspend() (resume func(), err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	editing, err := term.GetState(m.fd)
	if err == nil {
		err = term.Restore(m.fd, m.original)
	}
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if !m.over {
			_ = term.Restore(m.fd, editing)
		}
	}, err
}

// changesWithin is the time in which the library readline changes the mode. It may wait only for a
// terminal whose output was stopped.
const changesWithin = 200 * time.Millisecond

// Restore restores the mode, before the process ends. It waits for a change of the mode that has
// begun.
func (m *Mode) Restore() {
	for end := time.Now().Add(changesWithin); m.changing.Load() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.over = true
	if m.original != nil {
		_ = term.Restore(m.fd, m.original)
	}
}
