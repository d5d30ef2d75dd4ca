package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/site"
)

// openQuestions opens the terminal for the questions of the flags.
func (f *runFlags) openQuestions(e *cli.Env) (err error) {
	flag, hint := "--confirm", "save a plan with ccm plan --out FILE and run it with ccm run FILE"
	switch {
	case f.step:
		flag, hint = "--step", "select resources with --target or --tags instead"
	case !f.confirm:
		return nil
	}
	if f.output.Value != "text" {
		return diag.Requires(flag, "--output text")
	}
	f.tty, err = e.OpenTerminal(flag, hint)
	return err
}

// confirmRun plans a run, prints the plan and asks for confirmation. It returns false if there is
// nothing to do.
func (f *runFlags) confirmRun(ctx context.Context, e *cli.Env, run *site.Run, rep *runReport) (bool, error) {
	plan, sum, err := run.MakePlan(ctx, rep.all())
	if err = errors.Join(err, rep.end(sum)); err != nil {
		return false, err
	}
	if sum.Interrupted || sum.Of(event.Pending)+sum.Of(event.Unknown) == 0 {
		return false, exitStatus(sum, f.detailed)
	}
	if err := e.Confirm(ctx, f.tty); err != nil {
		return false, err
	}
	run.RestartTimeout()
	if err := run.Follow(ctx, plan); err != nil {
		return false, f.followError(e, run, err)
	}
	return true, nil
}

// A stepper asks before each resource that would be changed.
type stepper struct {
	ctx  context.Context // of the run
	e    *cli.Env
	tty  *terminal.Writer
	show report.Text
	all  bool  // nothing is asked any more
	quit error // nothing is done any more
}

func newStepper(ctx context.Context, e *cli.Env, f *runFlags) *stepper {
	return &stepper{ctx: ctx, e: e, tty: f.tty, show: report.Text{W: f.tty, Color: cli.Colorful(e, f.tty), Diff: report.DiffMode(f.diff.Value)}}
}

// ask implements [converge.Engine.Approve].
func (s *stepper) ask(ev *event.Event) error {
	if s.all || s.quit != nil {
		return s.quit
	}
	shown := *ev
	shown.Noop = true
	s.show.Event(&shown)
	answer, err := s.e.Ask(s.ctx, s.tty, "yes", "no", "all", "quit")
	switch {
	case err != nil:
		s.quit = fmt.Errorf("%w: %w", converge.ErrDeclined, err)
	case answer == "all":
		s.all = true
	case answer == "no":
		return converge.ErrDeclined
	case answer == "quit":
		s.quit = fmt.Errorf("%w, with all later resources", converge.ErrDeclined)
	}
	return s.quit
}
