package agent

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A runner runs sites in processes of their own, so that a run that takes all memory does not end
// the agent. Locks, records and reports are as in any run.
type runner struct {
	executable string
	arguments  []string // of ccm, after the command
	environ    []string
	lockWait   time.Duration // for a run of somebody else
	register   string        // how services are registered; "" leaves it to the environment
}

// lastWork is the time that a run has to end by itself after the second signal.
const lastWork = 10 * time.Second

// An interruption ends a run. After ask is closed, the run ends after its present resource; after
// insist is closed, at once.
type interruption struct{ ask, insist <-chan struct{} }

// run runs a site, and calls line for each line of its report. It returns the end of the run's
// other output: warnings and errors.
func (x *runner) run(r *Run, data, context string, stop interruption, line func([]byte)) (exit int, lastWords string, err error) {
	cmd := exec.Command(x.executable, x.argv(r, data, context)...)
	cmd.Dir = filepath.Dir(r.Site.Path)
	cmd.Env = x.environ
	// Signals from a terminal are for the agent, which passes them on.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return -1, "", err
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return -1, "", err
	}
	if err := cmd.Start(); err != nil {
		return -1, "", err
	}
	ended := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		signaled(cmd.Process, stop, ended)
	}()
	words := make(chan string, 1)
	go func() { words <- lastLines(stderr) }()
	readErr := lines(stdout, line)
	lastWords = <-words
	waitErr := cmd.Wait()
	close(ended)
	<-watched
	if exit, ok := errors.AsType[*exec.ExitError](waitErr); ok {
		return exit.ExitCode(), lastWords, nil
	}
	return 0, lastWords, errors.Join(readErr, waitErr)
}

// betweenSignals is the least time between the first and the second signal: a process takes two signals
// that it has not heard yet for one, and would finish its current work.
const betweenSignals = 200 * time.Millisecond

// signaled passes an interruption on to a process.
func signaled(p *os.Process, stop interruption, ended <-chan struct{}) {
	select {
	case <-stop.ask:
	case <-stop.insist:
	case <-ended:
		return
	}
	_ = p.Signal(syscall.SIGTERM)
	heard := time.After(betweenSignals)
	select {
	case <-stop.insist:
	case <-ended:
		return
	}
	select {
	case <-heard:
		_ = p.Signal(syscall.SIGTERM)
	case <-ended:
		return
	}
	select {
	case <-time.After(lastWork):
		_ = p.Kill()
	case <-ended:
	}
}

// argv returns the arguments of ccm for a run.
func (x *runner) argv(r *Run, data, context string) []string {
	argv := []string{"run", "--output", "json", "--diff", "off", "--lock-timeout", x.lockWait.String()}
	switch r.Mode {
	case Plan:
		argv = append(argv, "--noop")
	case Check:
		argv = append(argv, "--monitor-only")
	}
	for _, target := range r.Targets {
		argv = append(argv, "--target", target)
	}
	if data != "" {
		argv = append(argv, "--data", data)
	}
	if context != "" {
		argv = append(argv, "--context", context)
	}
	if x.register != "" && r.Mode != Plan {
		argv = append(argv, "--register", x.register)
	}
	argv = append(argv, x.arguments...)
	argv = append(argv, r.Site.Arguments...)
	return append(argv, "--", r.Site.Path)
}

// maxLine is the length limit of a report line. Events have outputs of commands, at most 128 KiB
// before escaping.
const maxLine = 4 << 20

// lines calls do for each line. It skips lines longer than maxLine.
func lines(r io.Reader, do func([]byte)) error {
	buf := bufio.NewReaderSize(r, 16<<10)
	var long []byte
	tooLong := false
	for {
		part, err := buf.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			if tooLong = tooLong || len(long)+len(part) > maxLine; !tooLong {
				long = append(long, part...)
			}
			continue
		case len(long) > 0 && !tooLong:
			do(bytes.TrimSuffix(append(long, part...), []byte("\n")))
		case len(part) > 0 && !tooLong:
			do(bytes.TrimSuffix(part, []byte("\n")))
		}
		if cap(long) > 64<<10 {
			long = nil
		}
		long, tooLong = long[:0], false
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// lastLines returns the last lines of a stream, at most 10.
func lastLines(r io.Reader) string {
	var last []string
	_ = lines(r, func(line []byte) {
		text := string(line[:min(len(line), 1000)])
		if strings.TrimSpace(text) == "" {
			return
		}
		if last = append(last, text); len(last) > 10 {
			last = slices.Delete(last, 0, 1)
		}
	})
	return strings.Join(last, "\n")
}

// environment returns the environment of runs: that of the agent without systemd's variables for
// the agent itself (sd_notify(3), sd_watchdog_enabled(3)).
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{"NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"}, name)
	})
}

// command runs another command of ccm in a directory, and returns its output: at most 16 MiB.
func (a *Agent) command(ctx context.Context, dir string, args []string) (out []byte, words string, err error) {
	cmd := exec.CommandContext(ctx, a.runner.executable, args...)
	cmd.Dir, cmd.Env = dir, a.runner.environ
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = lastWork
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &boundedWriter{w: &stdout, remaining: 16 << 20}, &boundedWriter{w: &stderr, remaining: 64 << 10}
	err = cmd.Run()
	return stdout.Bytes(), strings.TrimSpace(stderr.String()), err
}

// Output runs another command of ccm, such as facts, and returns its output.
func (a *Agent) Output(ctx context.Context, args ...string) ([]byte, error) {
	began := a.now()
	out, words, err := a.command(ctx, "", args)
	if len(args) > 0 && args[0] == "facts" {
		a.metrics.gatheredFacts(a.now().Sub(began), err)
	}
	if err != nil {
		if words != "" {
			err = errors.New(words)
		}
		return nil, err
	}
	return out, nil
}
