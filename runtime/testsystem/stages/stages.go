// Package stages applies a site to a throw-away system, as to a machine in production, and judges each step: the plan,
// the run, a second run, a reboot, the undo.
//
// Begin with [Test.Run].
package stages

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/testsystem"
)

// A Test is what is done on each system.
type Test struct {
	// Open opens the program ccm, for the system.
	Open func() (io.ReadCloser, error)
	// Bundle is the site, and Args are its arguments. From is the version of the site that is applied first; nil for none.
	Bundle, From []byte
	Args         []string
	// Reboot adds a reboot, after which nothing may change.
	Reboot bool
	// Specs runs the specs about the machine, and returns how many there are; may be nil.
	Specs func(ctx context.Context, s testsystem.System) (int, []Problem, error)
	Now   func() time.Time
	// Event is called for each resource that changed or failed, and Stage at the end of each stage.
	Event func(Event)
	Stage func(Stage)
}

// A Status is the result of a stage.
type Status string

// Results of stages. A skipped stage has its reason as a note.
const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Skipped Status = "skipped"
)

// A Stage is a step of a test.
type Stage struct {
	Name     string
	Status   Status
	Problems []Problem
	// Note describes what happened, such as "4 changed".
	Note     string
	Duration time.Duration
	// Report is the JSON report of ccm, a line for each event, if the stage is a plan or a run.
	Report []byte
}

// A Problem is a reason for a failure.
type Problem struct {
	// Resource is the name of a resource, "" if the problem is of none.
	Resource string
	// Text is what is wrong, with the place of the declaration. Hint is what to do, or "".
	Text, Hint string
}

// String formats a problem: the hint is in a line of its own.
func (p Problem) String() string {
	if p.Hint == "" {
		return p.Text
	}
	return p.Text + "\n  " + p.Hint
}

// Where the program and the site are in a system.
const (
	Program = "/usr/local/bin/ccm"
	Site    = "/var/lib/ccm-test/site.tar.gz"
)

// Install copies the program and the site into a system.
func (t *Test) Install(ctx context.Context, s testsystem.System) error {
	f, err := t.Open()
	if err != nil {
		return err
	}
	defer f.Close()
	if err := testsystem.Copy(ctx, s, f, Program, "755"); err != nil {
		return err
	}
	return t.copySite(ctx, s, t.Bundle)
}

func (t *Test) copySite(ctx context.Context, s testsystem.System, site []byte) error {
	return testsystem.Copy(ctx, s, strings.NewReader(string(site)), Site, "644")
}

// A course is the test of one system.
type course struct {
	*Test
	s      testsystem.System
	failed bool
}

// Run tests a system. It returns whether the test has passed; the error means that it did not get to its end.
func (t *Test) Run(ctx context.Context, s testsystem.System) (bool, error) {
	c := &course{Test: t, s: s}
	err := c.run(ctx)
	return !c.failed, err
}

// errStopped ends a test, because later stages would only fail for the same reason.
var errStopped = errors.New("stopped")

func (c *course) run(ctx context.Context) error {
	if err := c.Install(ctx, c.s); err != nil {
		return err
	}
	if c.From != nil {
		if err := c.copySite(ctx, c.s, c.From); err != nil {
			return err
		}
		if _, err := c.apply(ctx, "run of the earlier version", "run"); err != nil {
			return ignoreStop(err)
		}
		if err := c.copySite(ctx, c.s, c.Bundle); err != nil {
			return err
		}
	}
	before, err := listFiles(ctx, c.s)
	if err != nil {
		return err
	}
	plan, err := c.apply(ctx, "plan", "plan")
	if err != nil {
		return ignoreStop(err)
	}
	first, err := c.apply(ctx, "run", "run")
	if err != nil {
		return ignoreStop(err)
	}
	c.end(Stage{Name: "plan equals run", Problems: comparePlan(plan, first)})
	stable, err := c.again(ctx)
	if err != nil {
		return ignoreStop(err)
	}
	c.health(first)
	if err := c.specs(ctx); err != nil {
		return err
	}
	if c.Reboot {
		if err := c.reboot(ctx, stable); err != nil {
			return ignoreStop(err)
		}
	}
	if len(stable.changed()) > 0 {
		c.end(Stage{Name: "undo", Status: Skipped, Note: "the second run changed something"})
		return nil
	}
	return ignoreStop(c.undo(ctx, before, first))
}

func ignoreStop(err error) error {
	if errors.Is(err, errStopped) {
		return nil
	}
	return err
}

// end reports a stage.
func (c *course) end(s Stage) {
	if s.Status == "" {
		s.Status = Passed
		if len(s.Problems) > 0 {
			s.Status = Failed
		}
	}
	c.failed = c.failed || s.Status == Failed
	c.Stage(s)
}

// command runs ccm in the system, and reads its report.
func (c *course) command(ctx context.Context, args ...string) (*outcome, error) {
	out := newOutcome(c.Event)
	code, err := c.s.Exec(ctx, testsystem.Cmd{Argv: append([]string{Program}, append(args, "--output", "json")...), Stdout: out, Stderr: &out.stderr})
	if err != nil {
		return nil, err
	}
	out.code = code
	return out, out.finish()
}

// apply runs a command for the site as a stage. After a failure nothing else is tried.
func (c *course) apply(ctx context.Context, stage, command string) (*outcome, error) {
	start := c.Now()
	out, err := c.command(ctx, append([]string{command, Site}, c.Args...)...)
	if err != nil {
		return nil, err
	}
	problems := out.problems()
	c.end(Stage{Name: stage, Problems: problems, Note: out.counts(), Duration: c.Now().Sub(start), Report: out.text})
	if len(problems) > 0 {
		return out, errStopped
	}
	return out, nil
}

// again is the second run, which may change nothing. A third run tells what changes each time from what takes two runs.
func (c *course) again(ctx context.Context) (*outcome, error) {
	start := c.Now()
	args := append([]string{"run", Site}, c.Args...)
	second, err := c.command(ctx, args...)
	if err != nil {
		return nil, err
	}
	problems := second.problems()
	if changed := second.changed(); len(problems) == 0 && len(changed) > 0 {
		quiet := *c
		quiet.Test = &Test{} // nobody needs to see it
		third, err := quiet.command(ctx, args...)
		if err != nil {
			return nil, err
		}
		for _, e := range changed {
			if later, ok := third.event(e.id()); ok && later.Outcome == "changed" {
				problems = append(problems, Problem{e.id(), e.id() + " changes in every run: " + e.what() + e.place(), everyRunHint(e)})
			} else {
				problems = append(problems, Problem{
					e.id(), e.id() + " was only done by the second run: " + e.what() + e.place(),
					"make it require the resource that it depends on",
				})
			}
		}
	}
	c.end(Stage{Name: "second run", Problems: problems, Note: second.counts(), Duration: c.Now().Sub(start)})
	if len(second.problems()) > 0 {
		return second, errStopped
	}
	return second, nil
}

// health judges the health checks of the run.
func (c *course) health(run *outcome) {
	stage := Stage{Name: "health checks", Note: "none"}
	checks := 0
	for _, e := range run.events {
		for _, h := range e.HealthChecks {
			if checks++; h.Status == "critical" || h.Status == "unknown" {
				text := e.id() + ": health check " + h.Name + " is " + h.Status
				if h.Output != "" {
					text += ": " + h.Output
				}
				stage.Problems = append(stage.Problems, Problem{e.id(), text + e.place(), ""})
			}
		}
	}
	if checks == 0 {
		stage.Status = Skipped
	} else {
		stage.Note = fmt.Sprint(checks)
	}
	c.end(stage)
}

// specs runs the specs about the machine.
func (c *course) specs(ctx context.Context) error {
	if c.Specs == nil {
		return nil
	}
	start := c.Now()
	n, problems, err := c.Specs(ctx, c.s)
	if err != nil {
		return err
	}
	stage := Stage{Name: "specs", Problems: problems, Note: fmt.Sprint(n), Duration: c.Now().Sub(start)}
	if n == 0 {
		stage.Status, stage.Note = Skipped, "none with system = true"
	}
	c.end(stage)
	return nil
}

// reboot boots the system again. What only now changes did not survive.
func (c *course) reboot(ctx context.Context, stable *outcome) error {
	start := c.Now()
	if err := c.s.Reboot(ctx); errors.Is(err, testsystem.ErrNoInit) {
		c.end(Stage{Name: "reboot", Status: Skipped, Note: err.Error()})
		return nil
	} else if err != nil {
		return err
	}
	out, err := c.command(ctx, append([]string{"run", Site}, c.Args...)...)
	if err != nil {
		return err
	}
	problems := out.problems()
	for _, e := range out.changed() {
		if earlier, ok := stable.event(e.id()); !ok || earlier.Outcome != "changed" {
			text := e.id() + " does not survive a reboot: " + e.what() + e.place()
			problems = append(problems, Problem{e.id(), text, rebootHint(e)})
		}
	}
	c.end(Stage{Name: "reboot", Problems: problems, Note: out.counts(), Duration: c.Now().Sub(start)})
	if len(out.problems()) > 0 {
		return errStopped
	}
	return nil
}

// undo reverts the run, and applies the site again.
func (c *course) undo(ctx context.Context, before files, run *outcome) error {
	start := c.Now()
	out, err := c.command(ctx, "undo")
	if err != nil {
		return err
	}
	if out.hasNothingToUndo() {
		c.end(Stage{Name: "undo", Status: Skipped, Note: "no file was changed", Duration: c.Now().Sub(start)})
		return nil
	}
	after, err := listFiles(ctx, c.s)
	if err != nil {
		return err
	}
	left := before.difference(after)
	// A refresh may fail because the unit of a service is gone: undo reverts files, and no services. What the site does
	// not declare, such as the content of an archive, may have been changed by its commands; a directory may have got
	// files of others.
	var problems []Problem
	note := left.summary()
	for _, p := range out.problems() {
		declared, ok := run.event(p.Resource)
		if p.Resource == "" || ok && declared.Type == "file" && !after.isDirectory(declared.Name) {
			problems = append(problems, p)
		} else {
			note += "; " + p.Text
		}
	}
	for _, e := range run.changed() {
		state, ok := left[e.Name]
		if ok && e.owns(state) && !after.isDirectory(e.Name) && len(problems) == 0 {
			problems = append(problems, Problem{e.id(), "undo did not restore " + e.Name + ": " + state + e.place(), ""})
		}
	}
	c.end(Stage{Name: "undo", Problems: problems, Note: note, Duration: c.Now().Sub(start)})
	if len(problems) > 0 {
		return errStopped
	}
	_, err = c.apply(ctx, "run after undo", "run")
	return err
}
