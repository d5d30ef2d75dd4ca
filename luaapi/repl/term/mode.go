package term

import (
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"
)

// A Mode is how a terminal was before lines were edited on it, and is to be again when
// the process ends, whoever ends it. Without begin there is nothing to restore.
type Mode struct {
	mu     sync.Mutex
	fd     int
	before *term.State
	over   bool // the process ends
	// changing is set while the library for lines is about to change the mode.
	changing atomic.Bool
}

// begin remembers how a terminal is.
func (m *Mode) begin(fd int) error {
	state, err := term.GetState(fd)
	if err == nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.fd, m.before = fd, state
	}
	return err
}

// aside gives the terminal back its mode for another program, until again is called.
func (m *Mode) aside() (again func(), err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	editing, err := term.GetState(m.fd)
	if err == nil {
		err = term.Restore(m.fd, m.before)
	}
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if !m.over {
			_ = term.Restore(m.fd, editing)
		}
	}, err
}

// changesWithin is how long the library for lines may take to change the mode. It waits
// for nothing but, maybe, for a terminal that was told to stop its output.
const changesWithin = 200 * time.Millisecond

// Restore gives the terminal back its mode, for who ends the process. What was about to
// change it has done so by then.
func (m *Mode) Restore() {
	for end := time.Now().Add(changesWithin); m.changing.Load() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.over = true
	if m.before != nil {
		_ = term.Restore(m.fd, m.before)
	}
}
