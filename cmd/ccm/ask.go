package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/site"
)

// openTerminal returns where questions are written, or an error if nobody can be asked.
func (e *env) openTerminal(flag, hint string) (*terminal.Writer, error) {
	if terminal.IsTerminal(e.Stdin) {
		if terminal.IsTerminal(e.stderr) {
			return e.stderr, nil
		}
		if f, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0); err == nil {
			return terminal.NewWriter(secret.NewWriter(f, e.Secrets)), nil
		}
	}
	return nil, diag.Errorf(diag.Pos{}, "%s asks on a terminal, and there is none", flag).WithHint("%s", hint)
}

// openQuestions opens the terminal for the questions of the flags.
func (f *runFlags) openQuestions(e *env) (err error) {
	flag, hint := "--confirm", "ccm plan --out FILE, and ccm run FILE later, does without"
	switch {
	case f.step:
		flag, hint = "--step", "--target and --tags select without being asked"
	case !f.confirm:
		return nil
	}
	if f.output.value != "text" {
		return fmt.Errorf("%s goes only with --output text", flag)
	}
	f.tty, err = e.openTerminal(flag, hint)
	return err
}

// ask asks a question on a terminal until the answer is one of the words or the beginning
// of one, and returns that word. No answer at all is the last word.
func (e *env) ask(ctx context.Context, tty *terminal.Writer, words ...string) (string, error) {
	ctx, cancel := e.UntilStopped(ctx)
	defer cancel()
	for {
		terminal.Fprintf(tty, "Do this? (%s) ", strings.Join(words, ", "))
		_ = tty.Flush()
		line, err := readLine(ctx, e.Stdin)
		if err != nil {
			terminal.Fprintf(tty, "\n")
			return "", err
		}
		answer := strings.ToLower(strings.TrimSpace(line))
		if answer == "" {
			return words[len(words)-1], nil
		}
		if i := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, answer) }); i >= 0 {
			return words[i], nil
		}
	}
}

// longestAnswer is how many bytes of a line are read.
const longestAnswer = 256

// readLine reads a line of a terminal. It returns as soon as the context ends.
func readLine(ctx context.Context, in io.Reader) (string, error) {
	type result struct {
		line string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		var line []byte
		var one [1]byte
		for len(line) < longestAnswer {
			n, err := in.Read(one[:])
			if n == 1 && one[0] == '\n' || errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				done <- result{"", err}
				return
			}
			line = append(line, one[:n]...)
		}
		done <- result{string(line), nil}
	}()
	select {
	case r := <-done:
		return r.line, r.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// confirmRun says what a run would do and asks whether to do it. It returns false if nothing
// is to be done.
func (f *runFlags) confirmRun(ctx context.Context, e *env, run *site.Run, rep *runReport) (bool, error) {
	plan, sum, err := run.MakePlan(ctx, rep.reporters)
	if err = errors.Join(err, rep.end(sum)); err != nil {
		return false, err
	}
	if sum.Interrupted || sum.Of(event.Pending)+sum.Of(event.Unknown) == 0 {
		return false, exitStatus(sum, f.detailed)
	}
	if err := e.confirm(ctx, f.tty); err != nil {
		return false, err
	}
	return true, run.Follow(ctx, plan)
}

// confirm asks whether to do what was said. No is an error.
func (e *env) confirm(ctx context.Context, tty *terminal.Writer) error {
	answer, err := e.ask(ctx, tty, "yes", "no")
	if err == nil && answer == "no" {
		err = errors.New("nothing was done")
	}
	return err
}

// A stepper asks before each resource that would be changed.
type stepper struct {
	ctx  context.Context // of the run
	e    *env
	tty  *terminal.Writer
	show report.Text
	all  bool  // nothing is asked any more
	quit error // nothing is done any more
}

func newStepper(ctx context.Context, e *env, f *runFlags) *stepper {
	return &stepper{ctx: ctx, e: e, tty: f.tty, show: report.Text{W: f.tty, Color: colorful(e, f.tty), Diff: report.DiffMode(f.diff.value)}}
}

// ask implements [converge.Engine.Approve].
func (s *stepper) ask(ev *event.Event) error {
	if s.all || s.quit != nil {
		return s.quit
	}
	shown := *ev
	shown.Noop = true
	s.show.Event(&shown)
	answer, err := s.e.ask(s.ctx, s.tty, "yes", "no", "all", "quit")
	switch {
	case err != nil:
		s.quit = fmt.Errorf("%w: %w", converge.ErrDeclined, err)
	case answer == "all":
		s.all = true
	case answer == "no":
		return converge.ErrDeclined
	case answer == "quit":
		s.quit = fmt.Errorf("%w, with all that comes after", converge.ErrDeclined)
	}
	return s.quit
}
