package report

import (
	"io"
	"sync"
	"time"

	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/terminal"
)

// StatusLine shows the current resource of a run in one line of a terminal, which it
// overwrites. All other output to the terminal must go through it.
type StatusLine struct {
	W io.Writer
	// Columns returns how wide the terminal is, so that the line stays one; 0 if that is
	// not known. It may be nil.
	Columns func() int

	mu      sync.Mutex
	visible bool
	note    string // progress of the current resource
	stop    chan struct{}
}

var (
	_ converge.Reporter = (*StatusLine)(nil)
	_ terminal.Printer  = (*StatusLine)(nil)
)

// NewStatusLine returns a line on the terminal that w writes to.
func NewStatusLine(w io.Writer) *StatusLine {
	return &StatusLine{W: w, Columns: func() int { return terminal.Columns(w) }}
}

// Begin implements converge.Reporter. A resource that takes longer than a moment is shown
// with the time it has taken.
func (s *StatusLine) Begin(r *resource.Resource, index, total int) {
	s.end()
	s.Note("")
	stop := make(chan struct{})
	s.stop = stop
	begun := time.Now()
	go func() {
		for tick := time.NewTicker(100 * time.Millisecond); ; {
			select {
			case <-stop:
				tick.Stop()
				return
			case <-tick.C:
				s.show(stop, terminal.Sprintf("[%d/%d] %s %s", index+1, total, r.ID, time.Since(begun).Round(100*time.Millisecond)))
			}
		}
	}()
}

func (s *StatusLine) show(stop chan struct{}, text terminal.Text) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-stop:
		return
	default:
	}
	if s.note != "" {
		text = terminal.Sprintf("%s, %s", text, s.note)
	}
	if s.Columns != nil {
		if columns := s.Columns(); columns > 0 {
			text = terminal.Cut(text, columns-1) // in the last column some terminals begin a new line
		}
	}
	_, _ = terminal.Fprint(s.W, terminal.EraseLine, text)
	s.visible = true
}

// Note shows a text behind the current resource until that is done, such as the progress
// of a download.
func (s *StatusLine) Note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note = text
}

// Event implements converge.Reporter.
func (s *StatusLine) Event(*converge.Event) { s.end() }

func (s *StatusLine) end() {
	if s.stop != nil {
		close(s.stop)
		s.stop = nil
	}
	s.clear()
}

func (s *StatusLine) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.visible {
		_, _ = terminal.Fprint(s.W, terminal.EraseLine)
		s.visible = false
	}
}

// Write implements io.Writer: the line is removed and p is written.
func (s *StatusLine) Write(p []byte) (int, error) {
	s.clear()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.W.Write(p)
}

// Print implements terminal.Printer: the line is removed and t is written.
func (s *StatusLine) Print(t terminal.Text) (int, error) {
	s.clear()
	s.mu.Lock()
	defer s.mu.Unlock()
	return terminal.Fprint(s.W, t)
}
