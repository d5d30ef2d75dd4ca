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

// StatusLine shows what a run is at in one line of a terminal, and below it what is looked
// at and the last lines of what commands write. It overwrites them, and removes them when
// that is done. All other output to the terminal must go through it, or through a
// [terminal.Writer] with its MakeWay.
type StatusLine struct {
	W io.Writer
	// Size returns how many columns and rows the terminal has, so that a line stays one; 0 if
	// that is not known. It may be nil.
	Size func() (columns, rows int)

	mu         sync.Mutex
	visible    bool
	extraLines int // how many lines stand below the first
	ticking    bool
	paused     int // how many have the terminal to themselves

	current   string // the resource, or the script that is read; "" if there is none
	startTime time.Time
	note      string   // progress of the current resource
	last      []string // its last lines of output, the newest at the end
	looks     []*look  // under way, the oldest first
}

var (
	_ event.Reporter   = (*StatusLine)(nil)
	_ terminal.Printer = (*StatusLine)(nil)
)

// NewStatusLine returns a line on the terminal that w writes to.
func NewStatusLine(w io.Writer) *StatusLine {
	return &StatusLine{W: w, Size: func() (int, int) { return terminal.Size(w) }}
}

// Begin implements event.Reporter. A resource that takes longer than a moment is shown
// with the time it has taken.
func (s *StatusLine) Begin(r *resource.Resource, index, total int) {
	s.BeginSite(terminal.Sprintf("[%d/%d] %s", index+1, total, r.ID).String())
}

// BeginSite shows how long a script or manifest takes to be read.
func (s *StatusLine) BeginSite(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end()
	s.current, s.startTime = name, time.Now()
	s.tick()
}

// EndSite ends what BeginSite has begun.
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

// A look is something that takes time and changes nothing: a command of a script, of a
// provider that looks, or a fact.
type look struct {
	text      string
	startTime time.Time
	last      []string
}

// longLook is from when on a look is shown. Nearly all are shorter.
const longLook = 300 * time.Millisecond

// Look shows what is looked at, with its last lines, until done is called.
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

// longest returns the look that takes longest, nil if none takes long.
func (s *StatusLine) longest() *look {
	if len(s.looks) == 0 || time.Since(s.looks[0].startTime) < longLook {
		return nil
	}
	return s.looks[0]
}

const interval = 100 * time.Millisecond

// tick has what there is shown from time to time, as long as there is something.
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

// show shows what there is. It returns false if there is nothing any more.
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

// draw shows a text and lines below it in the place of what is visible.
func (s *StatusLine) draw(text terminal.Text, lines []string) {
	columns, rows := 0, 0
	if s.Size != nil {
		columns, rows = s.Size()
	}
	if rows > 0 { // what is scrolled off can not be erased
		lines = lines[max(0, len(lines)-max(0, rows-2)):]
	}
	all := []terminal.Text{text}
	for _, line := range lines {
		all = append(all, terminal.Sprintf("%s%s", indent, line))
	}
	if columns > 0 {
		for i := range all {
			all[i] = terminal.Cut(all[i], columns-1) // in the last column some terminals begin a new line
		}
	}
	_, _ = terminal.Fprint(s.W, s.erased(), terminal.Join(all, "\n"))
	s.visible, s.extraLines = true, len(lines)
}

// outputLines is how many lines of output are shown.
const outputLines = 5

// erased returns what removes what is visible and goes to its beginning.
func (s *StatusLine) erased() terminal.Text {
	text := terminal.EraseLine
	for range s.extraLines {
		text = terminal.Concat(text, terminal.LineAbove, terminal.EraseLine)
	}
	s.extraLines = 0
	return text
}

// erase removes what is visible.
func (s *StatusLine) erase() {
	if s.visible {
		_, _ = terminal.Fprint(s.W, s.erased())
		s.visible = false
	}
}

// Output shows a line that a command of the current resource has written, until five others
// have come or the resource is done.
func (s *StatusLine) Output(_ *resource.Resource, line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = withLine(s.last, line)
}

// withLine returns the last lines with one more.
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

// Note shows a text behind the current resource until that is done, such as the progress
// of a download.
func (s *StatusLine) Note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note = text
}

// MakeWay removes what is visible, and shows nothing until the function is called that it
// returns. See [terminal.Writer.Before].
func (s *StatusLine) MakeWay() func() {
	s.mu.Lock()
	s.erase()
	return s.mu.Unlock
}

// Pause removes what is visible, and shows nothing until the function is called that it returns: somebody
// is asked something on the same terminal. Other output is written meanwhile.
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

// Write implements io.Writer: the line is removed and p is written.
func (s *StatusLine) Write(p []byte) (int, error) {
	defer s.MakeWay()()
	return s.W.Write(p)
}

// Print implements terminal.Printer: the line is removed and t is written.
func (s *StatusLine) Print(t terminal.Text) (int, error) {
	defer s.MakeWay()()
	return terminal.Fprint(s.W, t)
}
