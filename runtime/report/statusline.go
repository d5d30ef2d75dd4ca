package report

import (
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/terminal"
)

// StatusLine shows the present work of a run on one line of a terminal, and below it the last
// lines of output of a command. It overwrites these lines and finally removes them. All other
// output to the terminal must go through it, or through a [terminal.Writer] with its MakeWay.
type StatusLine struct {
	W io.Writer
	// Size returns the numbers of columns and rows of the terminal, so that long lines can be cut;
	// 0 if unknown. It may be nil.
	Size func() (columns, rows int)

	mu         sync.Mutex
	visible    bool
	extraLines int // number of lines below the first
	ticking    bool
	paused     int // number of callers that have the terminal to themselves

	current   string // the resource, or the script being read; "" for none
	startTime time.Time
	note      string   // progress of the current resource
	last      []string // last lines of its output, the newest at the end
	looks     []*look  // running looks, the oldest first
}

var (
	_ event.ActionReporter = (*StatusLine)(nil)
	_ terminal.Printer     = (*StatusLine)(nil)
)

// NewStatusLine returns a line on the terminal that w writes to.
func NewStatusLine(w io.Writer) *StatusLine {
	return &StatusLine{W: w, Size: func() (int, int) { return terminal.Size(w) }}
}

// BeforeAction implements event.ActionReporter. A resource that takes longer than a moment is shown with its
// time.
func (s *StatusLine) BeforeAction(r *resource.Resource, index, total int) {
	s.BeginSite(terminal.Sprintf("[%d/%d] %s", index+1, total, r.ID).String())
}

// BeginSite shows that a script or manifest is being read.
func (s *StatusLine) BeginSite(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end()
	s.current, s.startTime = name, time.Now()
	s.tick()
}

// EndSite ends the reading of a script or manifest.
func (s *StatusLine) EndSite() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end()
}

// Event implements event.Reporter.
func (s *StatusLine) Event(*event.Event) { s.EndSite() }

func (s *StatusLine) end() {
	s.erase()
	s.current, s.note, s.last = "", "", nil
}

// A look is something that takes time and changes nothing: a command of a script or of Status, or
// a fact.
type look struct {
	text      string
	startTime time.Time
	last      []string
}

// longLook is the time after which a look is shown. Nearly all are shorter.
const longLook = 300 * time.Millisecond

// Look shows a look, with its last lines of output, until done is called.
func (s *StatusLine) Look(what string) (line func(string), done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := &look{text: what, startTime: time.Now()}
	s.looks = append(s.looks, l)
	s.tick()
	line = func(text string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		l.last = withLine(l.last, text)
	}
	done = func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.looks = slices.DeleteFunc(s.looks, func(x *look) bool { return x == l })
	}
	return line, done
}

// longest returns the oldest look, nil if it is not long.
func (s *StatusLine) longest() *look {
	if len(s.looks) == 0 || time.Since(s.looks[0].startTime) < longLook {
		return nil
	}
	return s.looks[0]
}

const interval = 100 * time.Millisecond

// tick redraws from time to time, as long as there is something to show.
func (s *StatusLine) tick() {
	if s.ticking {
		return
	}
	s.ticking = true
	go func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for range tick.C {
			if !s.show() {
				return
			}
		}
	}()
}

// show redraws. It returns false if there is nothing to show.
func (s *StatusLine) show() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	elapsed := func(begun time.Time) time.Duration { return time.Since(begun).Round(interval) }
	longest := s.longest()
	switch {
	case s.current == "" && len(s.looks) == 0:
		s.erase()
		s.ticking = false
		return false
	case s.paused > 0:
	case s.current == "" && longest != nil:
		s.draw(terminal.Sprintf("%s %s", longest.text, elapsed(longest.startTime)), longest.last)
	case s.current == "":
		s.erase()
	case longest != nil:
		s.draw(terminal.Sprintf("%s %s", s.current, elapsed(s.startTime)), append([]string{longest.text}, longest.last...))
	case time.Since(s.startTime) >= interval:
		text := terminal.Sprintf("%s %s", s.current, elapsed(s.startTime))
		if s.note != "" {
			text = terminal.Sprintf("%s, %s", text, s.note)
		}
		s.draw(text, s.last)
	}
	return true
}

// draw replaces the visible lines by a text and lines below it.
func (s *StatusLine) draw(text terminal.Text, lines []string) {
	columns, rows := 0, 0
	if s.Size != nil {
		columns, rows = s.Size()
	}
	if rows > 0 { // scrolled lines cannot be erased
		lines = lines[max(0, len(lines)-max(0, rows-2)):]
	}
	all := []terminal.Text{text}
	for _, line := range lines {
		all = append(all, terminal.Sprintf("%s%s", indent, line))
	}
	if columns > 0 {
		for i := range all {
			all[i] = terminal.Cut(all[i], columns-1) // some terminals wrap after the last column
		}
	}
	_, _ = terminal.Fprint(s.W, s.erased(), terminal.Join(all, "\n"))
	s.visible, s.extraLines = true, len(lines)
}

// outputLines is the number of lines of output that are shown.
const outputLines = 5

// erased returns the control sequence that erases the visible lines.
func (s *StatusLine) erased() terminal.Text {
	text := terminal.EraseLine
	for range s.extraLines {
		text = terminal.Concat(text, terminal.LineAbove, terminal.EraseLine)
	}
	s.extraLines = 0
	return text
}

// erase erases the visible lines.
func (s *StatusLine) erase() {
	if s.visible {
		_, _ = terminal.Fprint(s.W, s.erased())
		s.visible = false
	}
}

// Output shows a line of output of the current resource, until five newer ones have come or the
// resource is done.
func (s *StatusLine) Output(_ *resource.Resource, line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = withLine(s.last, line)
}

// withLine appends a line to the last lines.
func withLine(last []string, line string) []string {
	line = strings.TrimSpace(strings.ReplaceAll(line, "\t", "    "))
	if line == "" {
		return last
	}
	if len(last) == outputLines {
		last = slices.Delete(last, 0, 1)
	}
	return append(last, line)
}

// Note shows a text behind the current resource, such as the progress of a download, until the
// resource is done.
func (s *StatusLine) Note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note = text
}

// MakeWay erases the visible lines, and shows nothing until the returned function is called. See
// [terminal.Writer.Before].
func (s *StatusLine) MakeWay() func() {
	s.mu.Lock()
	s.erase()
	return s.mu.Unlock
}

// Pause erases the visible lines, and shows nothing until the returned function is called,
// because the user is asked something on the terminal. Other output is still written.
func (s *StatusLine) Pause() (resume func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	s.paused++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.paused--
	}
}

// Write implements io.Writer: it erases the visible lines and writes p.
func (s *StatusLine) Write(p []byte) (int, error) {
	defer s.MakeWay()()
	return s.W.Write(p)
}

// Print implements terminal.Printer: it erases the visible lines and writes t.
func (s *StatusLine) Print(t terminal.Text) (int, error) {
	defer s.MakeWay()()
	return terminal.Fprint(s.W, t)
}
