package ssh

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// A Client reaches hosts by the ssh of the user.
type Client struct {
	// Command is ssh, with its first arguments.
	Command []string
	// Interactive lets ssh ask on the terminal.
	Interactive bool
	// ControlDir is the directory of the sockets of connections that are shared, "" for none.
	ControlDir string
	// Become is what stands before ccm on the host, such as sudo -n.
	Become []string
	// Password is what sudo -S reads; "" for none.
	Password string
	// RemoteDir is where programs are kept on the hosts, "" for the cache directory of the user.
	RemoteDir string
	Programs  *Programs
	// Timeout is how long one host may take, 0 for ever.
	Timeout time.Duration
	// Request is what is run, and Bundle the content of its site.
	Request Request
	Bundle  []byte
}

// A Line is one line that the command has printed on a host.
type Line struct {
	Text   string
	Stderr bool
}

// A Result is what became of one host.
type Result struct {
	Host Host
	// Err says why there is no exit status.
	Err error
	// Unreachable says that ssh did not get there, or that the connection broke.
	Unreachable bool
	// Exit is the exit status of the command, 0 if there is none. With an error it is that of one
	// that was ended.
	Exit     int
	Duration time.Duration
}

// stopPatience is how long the command on a host may take to end after the connection was told
// to end.
const stopPatience = 20 * time.Second

// Run runs the request on a host. Each line is told as it comes. When stop is closed the command
// is asked to end after what it is doing; when ctx ends the connection is cut.
func (c *Client) Run(ctx context.Context, stop <-chan struct{}, h Host, tell func(Line)) (res Result) {
	began := time.Now()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ending := make(chan struct{}) // the command is to end
	timedOut := false
	var guard sync.WaitGroup
	defer guard.Wait()
	done := make(chan struct{})
	defer close(done)
	guard.Go(func() {
		var late <-chan time.Time
		if c.Timeout > 0 {
			t := time.NewTimer(c.Timeout)
			defer t.Stop()
			late = t.C
		}
		select {
		case <-done:
			return
		case <-late:
			timedOut = true
		case <-stop:
		}
		close(ending)
		select {
		case <-done:
		case <-time.After(stopPatience):
			cancel()
		}
	})
	res = Result{Host: h}
	for stored := false; ; stored = true {
		s, err := c.start(ctx, ending, h)
		if err == nil && s.absent == nil {
			res.Exit, err = s.converse(c, h, tell)
		}
		if s != nil && s.absent != nil && !stored && err == nil {
			if err = c.store(ctx, ending, h, s.absent); err == nil {
				continue
			}
		} else if s != nil && s.absent != nil && err == nil {
			err = errors.New("ccm was stored there, and is not found")
		}
		if lost, ok := errors.AsType[*lostError](err); ok {
			res.Unreachable, err = true, lost
		}
		res.Err, res.Duration = err, time.Since(began)
		select {
		case <-ending:
			if timedOut && (err != nil || res.Exit != 0) {
				res.Err = fmt.Errorf("it took longer than %s", c.Timeout)
			}
		default:
		}
		return res
	}
}

// A lostError says that a host was not reached, or not any more.
type lostError struct{ why string }

// Error is what ssh has said.
func (e *lostError) Error() string { return e.why }

// arguments returns what ssh is called with.
func (c *Client) arguments(h Host, script string) []string {
	args := append([]string(nil), c.Command[1:]...)
	if !c.Interactive {
		args = append(args, "-o", "BatchMode=yes")
	}
	if c.ControlDir != "" {
		args = append(args, "-o", "ControlMaster=auto", "-o", "ControlPersist=60s", "-o", "ControlPath="+c.ControlDir+"/%C")
	}
	args = append(args, h.Options...)
	return append(args, "-T", "-o", "ServerAliveInterval=15", "--", h.address(), script)
}

// An endpoint is one call of ssh.
type endpoint struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	said   *tail
	closed sync.Once
	absent *absence // the host has no ccm
}

// An absence is what the host is, which has no ccm.
type absence struct {
	uname string
	gzip  bool
}

// call starts ssh. When ending is closed, so is its standard input.
func (c *Client) call(ctx context.Context, ending <-chan struct{}, h Host, script string) (*endpoint, error) {
	cmd := exec.CommandContext(ctx, c.Command[0], c.arguments(h, script)...)
	// A connection that stays open for the next one may hold standard error.
	cmd.WaitDelay = 50 * time.Millisecond
	s := &endpoint{cmd: cmd, said: new(tail)}
	cmd.Stderr = s.said
	var err error
	if s.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.stdout = bufio.NewReaderSize(stdout, 64<<10)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		select {
		case <-ending:
		case <-ctx.Done():
		}
		s.close()
	}()
	return s, nil
}

func (s *endpoint) close() { s.closed.Do(func() { _ = s.stdin.Close() }) }

// end ends the call, and returns why there was no more to read.
func (s *endpoint) end(reading error) error {
	s.close()
	_, _ = io.Copy(io.Discard, s.stdout)
	err := s.cmd.Wait()
	last := s.said.last()
	exit, failed := errors.AsType[*exec.ExitError](err)
	switch {
	case failed && exit.ExitCode() == 255:
		return &lostError{orElse(last, "ssh failed and did not say why")}
	case failed && last != "":
		return errors.New(last)
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return fmt.Errorf("ssh: %w", err)
	case reading != nil && reading != io.EOF:
		return reading
	}
	return &lostError{orElse(last, "the connection ended too early")}
}

func orElse(text, other string) string {
	if text != "" {
		return text
	}
	return other
}

// start starts ccm on a host, or finds that it is not there.
func (c *Client) start(ctx context.Context, ending <-chan struct{}, h Host) (*endpoint, error) {
	unames, sums := c.Programs.available()
	become := c.Become
	if become == nil {
		become = h.Become
	}
	s, err := c.call(ctx, ending, h, startScript(c.RemoteDir, become, unames, sums))
	if err != nil {
		return nil, err
	}
	for {
		line, err := readLine(s.stdout)
		if err != nil {
			return nil, s.end(err)
		}
		// A prompt without an end of line may stand before it.
		if rest, ok := after(line, absentMarker+" "); ok {
			z, uname, _ := strings.Cut(rest, " ")
			s.absent = &absence{uname: strings.TrimSpace(uname), gzip: z == "gzip"}
			_ = s.end(nil) // it has said all
			return s, nil
		}
		if _, ok := after(line, presentMarker); ok {
			return s, nil
		}
	}
}

// after returns what follows a marker in a line.
func after(line []byte, marker string) (string, bool) {
	_, rest, ok := bytes.Cut(line, []byte(marker))
	return string(rest), ok
}

// store takes ccm to a host.
func (c *Client) store(ctx context.Context, ending <-chan struct{}, h Host, at *absence) error {
	system, ok := systems[at.uname]
	if !ok {
		return fmt.Errorf("it is a system that there is no ccm for: %s", at.uname)
	}
	x, err := c.Programs.of(system)
	if err != nil {
		return err
	}
	s, err := c.call(ctx, ending, h, storeScript(c.RemoteDir, x.sha256, at.gzip))
	if err != nil {
		return err
	}
	content := x.content
	if at.gzip {
		content = x.compressed()
	}
	go func() { // the other side may end before it has read all
		_, _ = s.stdin.Write(content)
		s.close()
	}()
	for {
		line, err := readLine(s.stdout)
		if err != nil {
			err = s.end(err)
			if _, lost := errors.AsType[*lostError](err); !lost {
				err = fmt.Errorf("ccm cannot be stored there: %w", err)
			}
			return err
		}
		if _, ok := after(line, storedMarker); ok {
			_ = s.end(nil)
			return nil
		}
	}
}

// converse sends the request and tells what comes back.
func (s *endpoint) converse(c *Client, h Host, tell func(Line)) (exit int, err error) {
	if c.Password != "" {
		_, _ = io.WriteString(s.stdin, c.Password+"\n") // that it is not read is seen below
		s.said.limit(promptMarker, 2, func() { s.close(); _ = s.cmd.Process.Kill() })
	}
	greeted := false
	for {
		line, err := readLine(s.stdout)
		if err != nil {
			if s.said.prompts() > 1 {
				_ = s.end(err)
				return 0, errors.New("the password was refused")
			}
			if err = s.end(err); greeted {
				return 0, &lostError{"the connection was lost while ccm ran: " + err.Error()}
			}
			return 0, err
		}
		if !greeted {
			var first hello
			if greeted = json.Unmarshal(line, &first) == nil && first.Protocol == helloProtocol; greeted {
				req := c.Request
				req.Protocol = requestProtocol
				if req.wantsFacts {
					req.Facts = h.Facts
				}
				if err := writeLine(s.stdin, req); err != nil {
					return 0, s.end(err)
				}
			}
			continue
		}
		var f frame
		if err := json.Unmarshal(line, &f); err != nil {
			continue // of a shell that ends
		}
		switch {
		case f.Want:
			if _, err := s.stdin.Write(c.Bundle); err != nil {
				return 0, s.end(err)
			}
		case f.Out != nil:
			tell(Line{Text: *f.Out})
		case f.Err != nil:
			tell(Line{Text: *f.Err, Stderr: true})
		case f.Refused != "":
			_ = s.end(nil)
			return 0, errors.New(f.Refused)
		case f.Exit != nil:
			_ = s.end(nil)
			return *f.Exit, nil
		}
	}
}

// A tail keeps the end of what ssh and the other side say on standard error.
type tail struct {
	mu     sync.Mutex
	text   []byte
	marker string
	most   int
	seen   int
	over   func()
}

const tailSize = 8 << 10

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if t.marker != "" {
		n := bytes.Count(t.text, []byte(t.marker))
		if n > t.seen {
			t.seen = n
		}
		if t.seen >= t.most && t.over != nil {
			go t.over()
			t.over = nil
		}
	}
	if len(t.text) > tailSize {
		t.text = append([]byte(nil), t.text[len(t.text)-tailSize:]...)
	}
	return len(p), nil
}

// limit has over called once the marker has been said so often.
func (t *tail) limit(marker string, most int, over func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.marker, t.most, t.over = marker, most, over
	t.seen = bytes.Count(t.text, []byte(marker))
}

// prompts returns how often the marker was said.
func (t *tail) prompts() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seen
}

// last returns the last line that is not empty, without the marker.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.ReplaceAll(string(t.text), promptMarker, ""), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if line := strings.TrimSpace(lines[i]); line != "" {
			return line
		}
	}
	return ""
}

// ControlDirectory makes the directory of the sockets of shared connections, and returns "" where
// there can be none: a socket's path has room for 104 bytes, of which ssh needs 58.
func ControlDirectory(cache string) string {
	dir := os.Getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		dir = cache
	}
	dir += "/ccm-ssh"
	if len(dir) > 104-58-1 || strings.ContainsAny(dir, "% \"'\\") || os.MkdirAll(dir, 0o700) != nil {
		return ""
	}
	return dir
}
