package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/git"
	"github.com/luaccm/ccm/runtime/host/fetch"
)

// runGit runs git and returns its output.
func (s *gitSource) runGit(ctx context.Context, patience time.Duration, repo string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := s.command(ctx, repo, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &boundedWriter{w: &stdout, remaining: 4 << 20}, &boundedWriter{w: &stderr, remaining: 64 << 10}
	err := cmd.Run()
	if cmd.ProcessState != nil {
		s.cpuTime += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	if err != nil {
		if ctx.Err() != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return "", diag.TimedOut("git "+args[0], patience)
		}
		return "", s.failed(args[0], stderr.String(), err)
	}
	return stdout.String(), nil
}

// command returns a git command that ends with the context, together with all its children.
func (s *gitSource) command(ctx context.Context, repo string, args ...string) *exec.Cmd {
	argv := git.Argv(repo, args...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), git.Environment(s.takesPlain())...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// takesPlain reports whether git may use http: the URL asks for it, the content is verified, or
// insecure connections are allowed.
func (s *gitSource) takesPlain() bool {
	return s.config.Signers != "" || s.x.insecure || s.x.policy == nil || s.plain != nil && s.plain.Scheme == "http"
}

// failed returns the reason of git's failure, without credentials.
func (s *gitSource) failed(verb, stderr string, err error) error {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 127 {
		return startError(exec.ErrNotFound)
	}
	if s.plain != nil && s.plain.User != nil {
		stderr = strings.ReplaceAll(stderr, s.config.Git, fetch.RedactURL(s.plain))
		if password, ok := s.plain.User.Password(); ok && password != "" {
			stderr = strings.ReplaceAll(stderr, password, "xxxxx")
		}
	}
	words := lastWords(stderr)
	if words == "" {
		words = err.Error()
	}
	return fmt.Errorf("git %s: %s", verb, words)
}

func startError(err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return diag.At(diag.Pos{}, diag.Not("git", "installed")).WithHint("install git")
	}
	return err
}

// lastWords returns the last line of a text that looks like an error or, if there is none, the
// last line with words.
func lastWords(text string) string {
	last, failure := "", ""
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		last = line
		if rest, ok := strings.CutPrefix(line, "fatal: "); ok && failure == "" {
			failure = rest
		}
	}
	if failure != "" {
		return failure
	}
	return last
}

// A boundedWriter writes up to a number of bytes, and drops the rest.
type boundedWriter struct {
	w         *bytes.Buffer
	remaining int
}

// Write implements io.Writer.
func (b *boundedWriter) Write(p []byte) (int, error) {
	n := min(len(p), b.remaining)
	b.remaining -= n
	b.w.Write(p[:n])
	return len(p), nil
}
