package author

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/luaapi/spec"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/report/part"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/testsystem"
	"github.com/luaccm/ccm/runtime/testsystem/stages"
)

// A systemRun is the test of one system.
type systemRun struct {
	target   testsystem.Target
	stages   []stages.Stage
	err      error  // why the test did not get to its end
	keptName string // "" if the system was removed
}

func (r *systemRun) failed() []string {
	var names []string
	for _, s := range r.stages {
		if s.Status == stages.Failed {
			names = append(names, s.Name)
		}
	}
	return names
}

func widest(targets []testsystem.Target) (n int) {
	for _, t := range targets {
		n = max(n, len(t.Name))
	}
	return n
}

// A matrix tests a site on several systems.
type matrix struct {
	e      *cli.Env
	flags  *testFlags
	live   *terminal.Writer
	width  int
	test   stages.Test
	specs  []string
	wanted func(string, []string) bool
	pool   *testsystem.Pool

	specsMu sync.Mutex // interpreters share the process
}

// print writes a line of a system.
func (m *matrix) print(t testsystem.Target, text string) {
	for line := range strings.SplitSeq(text, "\n") {
		terminal.Fprintf(m.live, "%s  %s\n", fmt.Sprintf("%-*s", m.width, t.Name), line)
	}
}

// run tests one system.
func (m *matrix) run(ctx context.Context, t testsystem.Target, d testsystem.Driver) (r systemRun) {
	r.target = t
	if ctx.Err() != nil {
		r.err = context.Cause(ctx)
		return r
	}
	defer func() {
		if r.err != nil && ctx.Err() == nil {
			m.print(t, "failed   "+r.err.Error())
		}
	}()
	s, record, err := m.pool.Start(ctx, t, d)
	if err != nil {
		r.err = err
		return r
	}
	m.print(t, "started  with "+startedWith(d, record))
	test := m.test
	test.Event = func(e stages.Event) {
		if text := e.Text(); text != "" {
			m.print(t, "  "+text)
		}
	}
	test.Stage = func(s stages.Stage) {
		r.stages = append(r.stages, s)
		m.print(t, stageText(s))
	}
	if len(m.specs) > 0 {
		test.Specs = m.runSpecs
	}
	_, r.err = test.Run(ctx, s)
	keep := m.flags.system.keep && ctx.Err() == nil
	if err := m.pool.End(context.WithoutCancel(ctx), s, record, keep); err != nil {
		r.err = errors.Join(r.err, err)
	} else if keep {
		r.keptName = record.Name
	}
	return r
}

// stageText formats a stage, with its problems below it.
func stageText(s stages.Stage) string {
	text := fmt.Sprintf("%-8s %s", s.Status, s.Name)
	if s.Note != "" {
		text += ": " + s.Note
	}
	if s.Duration > 0 {
		text += " (" + part.Took(s.Duration) + ")"
	}
	for _, p := range s.Problems {
		text += "\n    " + strings.ReplaceAll(p.String(), "\n", "\n    ")
	}
	return text
}

// A specMachine is a system for specs.
type specMachine struct{ s testsystem.System }

func (m specMachine) Run(ctx context.Context, argv []string) (a spec.Answer, err error) {
	var out, problem bytes.Buffer
	a.Code, err = m.s.Exec(ctx, testsystem.Cmd{Argv: argv, Stdout: &out, Stderr: &problem})
	a.Stdout, a.Stderr = out.String(), problem.String()
	return a, err
}

func (m specMachine) Dial(ctx context.Context, address string) (net.Conn, error) {
	return testsystem.Dial(ctx, m.s, address)
}

// specProblems collects the failures of specs.
type specProblems struct {
	count int
	list  []stages.Problem
}

func (p *specProblems) Add(r spec.Result) {
	p.count++
	if r.Status == spec.Failure || r.Status == spec.Error {
		p.list = append(p.list, stages.Problem{Text: r.Name + ": " + r.Errs.Error()})
	}
}

func (*specProblems) AddSources(diag.Sources) {}

func (p *specProblems) AddFileError(file string, err error) {
	p.list = append(p.list, stages.Problem{Text: file + ": " + err.Error()})
}

// runSpecs runs the specs about a machine.
func (m *matrix) runSpecs(ctx context.Context, s testsystem.System) (int, []stages.Problem, error) {
	m.specsMu.Lock()
	defer m.specsMu.Unlock()
	var found specProblems
	for _, file := range m.specs {
		if err := m.e.Files.Trust().CheckFound(file); err != nil {
			return 0, nil, err
		}
		if err := runSpecFile(ctx, m.e, file, m.wanted, &found, specMachine{s}); err != nil {
			return 0, nil, err
		}
	}
	return max(found.count, len(found.list)), found.list, context.Cause(ctx)
}
