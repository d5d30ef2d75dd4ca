package report

import (
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/terminal"
)

// StatusLine shows the current resource of a run in one line of a terminal, and below it
// the last lines of what its commands write. It overwrites them, and removes them when the
// resource is done. All other output to the terminal must go through it.
type StatusLine struct {
	W io.Writer
	// Size returns how many columns and rows the terminal has, so that a line stays one; 0 if
	// that is not known. It may be nil.
	Size func() (columns, rows int)

	mu      sync.Mutex
	visible bool
	below   int      // how many lines stand below the first
	note    string   // progress of the current resource
	last    []string // its last lines of output, the newest at the end
	stop    chan struct{}
}

var (
	_ converge.Reporter = (*StatusLine)(nil)
	_ terminal.Printer  = (*StatusLine)(nil)
)

// NewStatusLine returns a line on the terminal that w writes to.
func NewStatusLine(w io.Writer) *StatusLine {
	return &StatusLine{W: w, Size: func() (int, int) { return terminal.Size(w) }}
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
	columns, rows := 0, 0
	if s.Size != nil {
		columns, rows = s.Size()
	}
	lines := s.last
	if rows > 0 { // what is scrolled off can not be erased
		lines = lines[max(0, len(lines)-max(0, rows-2)):]
	}
	all := make([]terminal.Text, 0, outputLines+1)
	all = append(all, text)
	for _, line := range lines {
		all = append(all, terminal.Sprintf("%s%s", indent, line))
	}
	if columns > 0 {
		for i := range all {
			all[i] = terminal.Cut(all[i], columns-1) // in the last column some terminals begin a new line
		}
	}
	_, _ = terminal.Fprint(s.W, s.erased(), terminal.Join(all, "\n"))
	s.visible, s.below = true, len(lines)
}

// outputLines is how many lines of output are shown.
const outputLines = 5

// erased returns what removes what is visible and goes to its beginning.
func (s *StatusLine) erased() terminal.Text {
	text := terminal.EraseLine
	for range s.below {
		text = terminal.Concat(text, terminal.LineAbove, terminal.EraseLine)
	}
	s.below = 0
	return text
}

// Output shows a line that a command of the current resource has written, until five others
// have come or the resource is done.
func (s *StatusLine) Output(_ *resource.Resource, line string) {
	line = strings.TrimSpace(strings.ReplaceAll(line, "\t", "    "))
	if line == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.last) == outputLines {
		s.last = slices.Delete(s.last, 0, 1)
	}
	s.last = append(s.last, line)
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
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = nil
}

func (s *StatusLine) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.visible {
		_, _ = terminal.Fprint(s.W, s.erased())
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
