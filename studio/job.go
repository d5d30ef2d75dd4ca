package studio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/studio/guard"
)

const (
	// maxJobs is the most commands that run at once.
	maxJobs = 2
	// jobTimeout is the time limit of a command. Plans examine the whole machine.
	jobTimeout = 10 * time.Minute
	// jobGrace is how long a command may take to end after it was asked to.
	jobGrace     = 3 * time.Second
	maxLine      = 4 << 20
	maxLines     = 50_000
	maxMessages  = 64 << 10
	quickTimeout = time.Minute
)

// A command is ccm itself, run in the directory of the site: plans and specs need their own
// process, because they can be ended at any time.
type command struct {
	args  []string
	stdin []byte
	line  func(line json.RawMessage) // takes each line of the output that is JSON
	text  io.Writer                  // takes the raw output, if line is nil
	kill  bool                       // end it without asking it first
}

// A commandEnd is the end of a command.
type commandEnd struct {
	status   string // done, failed, cancelled or timeout
	exit     int
	messages string
	duration time.Duration
	cut      bool
}

// jobs are the running commands.
type jobs struct {
	ctx       context.Context // its end ends the jobs
	program   string          // ccm itself
	directory string          // of the site

	mu      sync.Mutex
	cancel  map[string]context.CancelFunc // by the ids of jobs
	running sync.WaitGroup
}

// run runs a command until its end or that of the context. Its child processes end with it.
func (j *jobs) run(ctx context.Context, c command) commandEnd {
	began := time.Now()
	cmd := exec.CommandContext(ctx, j.program, c.args...)
	cmd.Dir = j.directory
	cmd.Stdin = bytes.NewReader(c.stdin)
	messages := &limitedBuffer{limit: maxMessages}
	cmd.Stderr = messages
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	signal := syscall.SIGTERM
	if c.kill {
		signal = syscall.SIGKILL
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, signal) }
	cmd.WaitDelay = jobGrace
	end := commandEnd{status: "done", exit: -1}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		end.status, end.messages = "failed", terminal.Lines(err.Error())
		return end
	}
	if c.line != nil {
		end.cut = eachLine(out, c.line)
	} else {
		_, _ = io.Copy(c.text, out) // the command's end has its error
	}
	err = cmd.Wait()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // the rest of its process group, usually empty
	end.exit, end.duration = cmd.ProcessState.ExitCode(), time.Since(began)
	end.messages = terminal.Lines(messages.String())
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		end.status = "timeout"
	case ctx.Err() != nil:
		end.status = "cancelled"
	case err != nil:
		end.status = "failed"
	}
	return end
}

// eachLine calls take with each line that is JSON, and reports whether lines were dropped. It reads
// to the end, because a command whose output nobody reads does not end.
func eachLine(r io.Reader, take func(json.RawMessage)) (cut bool) {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 64<<10), maxLine)
	for n := 0; in.Scan(); n++ {
		switch line := bytes.Clone(in.Bytes()); {
		case n >= maxLines:
			cut = true
		case json.Valid(line):
			take(line)
		}
	}
	if in.Err() != nil {
		cut = true
		_, _ = io.Copy(io.Discard, r) // the command's end has its error
	}
	return cut
}

// A limitedBuffer keeps the beginning of its input.
type limitedBuffer struct {
	bytes.Buffer
	limit int
}

// Write implements io.Writer.
func (b *limitedBuffer) Write(p []byte) (int, error) {
	if room := b.limit - b.Len(); room > 0 {
		_, _ = b.Buffer.Write(p[:min(room, len(p))]) // never fails
	}
	return len(p), nil
}

// start runs a command as a job, and calls end when it ends.
func (j *jobs) start(c func(id string) command, end func(id string, e commandEnd)) (*Job, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.cancel) >= maxJobs {
		return nil, refuse(http.StatusTooManyRequests, "busy", "two commands are already running")
	}
	id := guard.RandomText(8)
	ctx, cancel := context.WithTimeout(j.ctx, jobTimeout)
	j.cancel[id] = cancel
	one := c(id)
	j.running.Go(func() {
		defer cancel()
		result := j.run(ctx, one)
		j.mu.Lock()
		delete(j.cancel, id)
		j.mu.Unlock()
		end(id, result)
	})
	return &Job{Job: id}, nil
}

// end ends a job. It answers POST /api/plan/cancel.
func (j *jobs) end(_ context.Context, in Cancel) (any, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	cancel := j.cancel[in.Job]
	if cancel == nil {
		return nil, refuse(http.StatusNotFound, "", "already finished")
	}
	cancel()
	return nil, nil
}

// ask runs a short command, and returns the lines of its output.
func (j *jobs) ask(ctx context.Context, stdin []byte, args ...string) ([]json.RawMessage, commandEnd) {
	ctx, cancel := context.WithTimeout(ctx, quickTimeout)
	defer cancel()
	stop := context.AfterFunc(j.ctx, cancel)
	defer stop()
	lines := []json.RawMessage{}
	end := j.run(ctx, command{args: args, stdin: stdin, line: func(line json.RawMessage) { lines = append(lines, line) }})
	return lines, end
}

// runText is ask for a command whose output is a text.
func (j *jobs) runText(ctx context.Context, args []string, text io.Writer) commandEnd {
	ctx, cancel := context.WithTimeout(ctx, quickTimeout)
	defer cancel()
	return j.run(ctx, command{args: args, text: text})
}

// asError returns the error message of a failed command.
func (e commandEnd) asError() error {
	if e.status == "done" {
		return nil
	}
	text := strings.TrimSpace(strings.TrimPrefix(e.messages, "ccm: "))
	if text == "" {
		text = "the command was stopped: " + e.status
	}
	return refuse(http.StatusUnprocessableEntity, "", text)
}
