package ssh

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// A lostError says that a host was not reached, or that its connection was lost.
type lostError struct{ reason string }

// Error returns the message of ssh.
func (e *lostError) Error() string { return e.reason }

// arguments returns the arguments of ssh.
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

// A call is one call of ssh.
type call struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	output *tail
	noise  string // last output of the login shell
	closed sync.Once
}

// call starts ssh. When ending is closed, so is the standard input of ssh.
func (c *Client) call(ctx context.Context, ending <-chan struct{}, h Host, script string) (*call, error) {
	cmd := exec.CommandContext(ctx, c.Command[0], c.arguments(h, script)...)
	// A shared connection that stays open may hold standard error.
	cmd.WaitDelay = 50 * time.Millisecond
	s := &call{cmd: cmd, output: new(tail)}
	cmd.Stderr = s.output
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

func (s *call) close() { s.closed.Do(func() { _ = s.stdin.Close() }) }

// end ends the call, and returns why reading ended.
func (s *call) end(reading error) error {
	s.close()
	kill := func() { _ = s.cmd.Process.Kill() }
	endless := errors.Is(reading, errLongLine) || errors.Is(reading, errNoise)
	if endless {
		kill()
	}
	defer time.AfterFunc(stopPatience, kill).Stop() // output after the end has a limit too
	_, _ = io.Copy(io.Discard, s.stdout)
	err := s.cmd.Wait()
	if endless {
		return reading
	}
	last := s.output.last()
	exit, failed := errors.AsType[*exec.ExitError](err)
	switch {
	case failed && exit.ExitCode() == 255:
		return &lostError{orElse(s.output.withHostKey(last), "ssh failed without a message")}
	case failed && orElse(last, s.noise) != "":
		return errors.New(orElse(last, s.noise))
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return fmt.Errorf("ssh: %w", err)
	case reading != nil && !errors.Is(reading, io.EOF):
		return reading
	}
	return &lostError{orElse(last, "connection closed too early")}
}

func orElse(text, other string) string {
	if text != "" {
		return text
	}
	return other
}

// ControlDirectory makes the directory of the sockets of shared connections. It returns "" if the
// path would be too long: a socket's path has room for 104 bytes, of which ssh needs 58.
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
