package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
	"github.com/stretchr/testify/require"
)

// patient is how long a test waits for something to appear.
const patient = 2 * time.Minute

// A screen is ccm on a pseudo-terminal.
type screen struct {
	t    *testing.T
	cmd  *exec.Cmd
	pty  *os.File
	term vt10x.Terminal

	mu      sync.Mutex
	raw     bytes.Buffer // all output
	changed chan struct{}
	ended   chan struct{}
}

// screenOptions are properties of the terminal.
type screenOptions struct {
	home string   // home directory; "" for a new one
	env  []string // further variables
	mute bool     // it does not report the cursor position
	rows uint16
}

// onScreen starts ccm on a terminal.
func onScreen(t *testing.T, o screenOptions, args ...string) *screen {
	t.Helper()
	if o.home == "" {
		o.home = t.TempDir()
	}
	if o.rows == 0 {
		o.rows = 24
	}
	program, err := exec.LookPath("ccm")
	require.NoError(t, err)
	s := &screen{t: t, cmd: exec.Command(program, args...), changed: make(chan struct{}, 1), ended: make(chan struct{})}
	s.cmd.Dir = o.home
	s.cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + o.home, "TERM=xterm", "INPUTRC=/dev/null", "NO_COLOR=1",
		"CCM_STATE_DIR=" + filepath.Join(o.home, "state"),
	}, o.env...)
	s.pty, err = pty.StartWithSize(s.cmd, &pty.Winsize{Rows: o.rows, Cols: 80})
	require.NoError(t, err)
	var answers io.Writer = s.pty
	if o.mute {
		answers = io.Discard
	}
	s.term = vt10x.New(vt10x.WithWriter(answers), vt10x.WithSize(80, int(o.rows)))
	go s.follow()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		<-s.ended
		_ = s.pty.Close()
	})
	return s
}

// follow draws the output of ccm.
func (s *screen) follow() {
	defer close(s.ended)
	buf := make([]byte, 4096)
	for {
		n, err := s.pty.Read(buf)
		s.mu.Lock()
		s.raw.Write(buf[:n])
		_, _ = s.term.Write(buf[:n])
		s.mu.Unlock()
		select {
		case s.changed <- struct{}{}:
		default:
		}
		if err != nil {
			_ = s.cmd.Wait()
			return
		}
	}
}

// text returns the content of the screen, without blanks at the ends of lines and empty lines at the end.
func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := strings.Split(s.term.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// written returns all output so far.
func (s *screen) written() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.raw.String()
}

// until waits until the screen fulfils a condition.
func (s *screen) until(what string, is func(text string) bool) {
	s.t.Helper()
	deadline := time.After(patient)
	for {
		if is(s.text()) {
			return
		}
		select {
		case <-s.changed:
		case <-s.ended:
			if !is(s.text()) {
				s.t.Fatalf("ccm ended; wanted %s, got:\n%s", what, s.text())
			}
			return
		case <-deadline:
			s.t.Fatalf("wanted %s, got:\n%s", what, s.text())
		}
	}
}

// ends waits until the last lines of the screen are these.
func (s *screen) ends(lines ...string) {
	s.t.Helper()
	want := strings.Join(lines, "\n")
	s.until("at the end:\n"+want, func(text string) bool { return text == want || strings.HasSuffix(text, "\n"+want) })
}

// shows waits until a text is on the screen.
func (s *screen) shows(text string) {
	s.t.Helper()
	s.until("somewhere: "+text, func(screen string) bool { return strings.Contains(screen, text) })
}

// press sends keys.
func (s *screen) press(keys string) {
	s.t.Helper()
	_, err := io.WriteString(s.pty, keys)
	require.NoError(s.t, err)
}

// enter types a line, waits until it is shown, and presses Enter.
func (s *screen) enter(line string) {
	s.t.Helper()
	s.press(line)
	if line != "" {
		s.shows(line)
	}
	s.press("\r")
}

// status waits for the end and returns the exit status.
func (s *screen) status() int {
	s.t.Helper()
	select {
	case <-s.ended:
	case <-time.After(patient):
		s.t.Fatalf("ccm does not end:\n%s", s.text())
	}
	if status, ok := s.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		s.t.Fatalf("ccm was killed by %s", status.Signal())
	}
	return s.cmd.ProcessState.ExitCode()
}

// needPTY skips a test on systems without pseudo-terminals.
func needPTY(t *testing.T) {
	t.Helper()
	p, tty, err := pty.Open()
	if err != nil {
		t.Skip("no pseudo-terminal:", err)
	}
	_ = tty.Close()
	_ = p.Close()
}
