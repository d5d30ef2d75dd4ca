package author

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/luaapi/lint"
	"github.com/luaccm/ccm/luaapi/spec"
	"github.com/luaccm/ccm/runtime/bundle"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/junit"
	"github.com/luaccm/ccm/runtime/report/part"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/testsystem"
	"github.com/luaccm/ccm/runtime/testsystem/stages"
)

// systemFlags are the flags of test for throw-away systems. try has the first two.
type systemFlags struct {
	systems             []string
	driver              string
	from, shard, report string
	reboot, keep        bool
	parallel            int
}

func (f *systemFlags) add(fl *pflag.FlagSet) {
	fl.StringSliceVar(&f.systems, "system", nil, "test on throw-away `SYSTEMS`, such as debian:12,rocky:9")
	f.addDriver(fl)
	fl.StringVar(&f.from, "from", "", "with --system: first apply `VERSION`, a git commit or folder")
	fl.BoolVar(&f.reboot, "reboot", false, "with --system: also reboot; nothing may change afterwards")
	fl.BoolVar(&f.keep, "keep", false, "with --system: leave the systems running")
	fl.StringVar(&f.shard, "shard", "", "with --system: only test part `N/M` of the systems")
	fl.IntVarP(&f.parallel, "parallel", "j", 2, "with --system: at most `N` systems at a time")
	fl.StringVar(&f.report, "report", "", "with --system: also write a JUnit report to `FILE`")
}

func (f *systemFlags) addDriver(fl *pflag.FlagSet) {
	fl.StringVar(&f.driver, "driver", "", "`DRIVER`: nspawn, podman or docker (default the first that works)")
}

// needsSystem returns the name of a flag that was given although it is of no use without --system.
func (f *systemFlags) needsSystem(cmd *cobra.Command) string {
	for _, name := range []string{"driver", "from", "reboot", "keep", "shard", "parallel", "report"} {
		if cmd.Flags().Changed(name) {
			return name
		}
	}
	return ""
}

// targets returns the systems that the flags ask for.
func (f *systemFlags) targets() ([]testsystem.Target, error) {
	var list []testsystem.Target
	for _, name := range f.systems {
		t, err := testsystem.ParseTarget(name)
		if err != nil {
			return nil, diag.At(diag.Pos{}, fmt.Errorf("--system: %w", err)).WithHint("%s", diag.HintOf(err))
		}
		list = append(list, t)
	}
	if f.shard == "" {
		return list, nil
	}
	text, of, _ := strings.Cut(f.shard, "/")
	n, err := strconv.Atoi(text)
	m, bad := strconv.Atoi(of)
	if err != nil || bad != nil || n < 1 || n > m {
		return nil, diag.At(diag.Pos{}, fmt.Errorf("--shard: %w", diag.Expected("a part such as 1/4").Got("%q", f.shard)))
	}
	var part []testsystem.Target
	for i := n - 1; i < len(list); i += m {
		part = append(part, list[i])
	}
	return part, nil
}

// newPool returns the pool of systems, without those of processes that were killed.
func newPool(e *cli.Env) *testsystem.Pool {
	p := &testsystem.Pool{Dir: filepath.Join(state.CacheDir(), "systems"), Drivers: testsystem.Drivers(), Log: e.Stderr}
	removed, err := p.Reclaim()
	for _, name := range removed {
		terminal.Fprintf(e.Stderr, "ccm: removed %s, which an earlier test left behind\n", name)
	}
	if err != nil {
		terminal.Fprintf(e.Stderr, "ccm: cannot remove an earlier system: %s\n", err)
	}
	return p
}

// packSite returns the bundle of a site, and its folder.
func packSite(ctx context.Context, e *cli.Env, name string) ([]byte, bundle.Folder, error) {
	folder, err := e.BundleFolder(name, nil)
	if err != nil {
		return nil, folder, err
	}
	var b bytes.Buffer
	if _, err = bundle.Write(ctx, &b, folder); err != nil {
		if _, ok := errors.AsType[*bundle.NoEntryError](err); ok {
			err = fmt.Errorf("%s: %w", name, err)
		}
		return nil, folder, err
	}
	return b.Bytes(), folder, nil
}

// packEarlier returns the bundle of another version of a site.
func packEarlier(ctx context.Context, e *cli.Env, folder bundle.Folder, version string) (_ []byte, err error) {
	entry := folder.Entry
	if entry == "" {
		if entry, err = bundle.FindEntry(os.DirFS(folder.Dir)); err != nil {
			return nil, err
		}
	}
	dir, err := os.MkdirTemp("", "ccm-test-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file, err := cli.OtherVersion(ctx, filepath.Join(folder.Dir, entry), version, dir)
	if err != nil {
		return nil, err
	}
	text, _, err := packSite(ctx, e, file)
	return text, err
}

func openProgram() (io.ReadCloser, error) {
	own, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return os.Open(own)
}

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

// testSystems tests a site on systems.
func testSystems(ctx context.Context, e *cli.Env, f *testFlags, args []string) error {
	targets, err := f.system.targets()
	if err != nil {
		return err
	}
	switch {
	case len(args) > 1:
		return diag.At(diag.Pos{}, diag.Expected("one site with --system").Got("%d", len(args)))
	case f.system.parallel < 1:
		return diag.Errorf(diag.Pos{}, "-j: %w", diag.MustBe("at least 1").Got("%d", f.system.parallel))
	case f.output.Value == "tap" || f.output.Value == "json":
		return diag.Errorf(diag.Pos{}, "--system requires --output text or junit")
	}
	ctx, cancel := e.UntilStopped(ctx)
	defer cancel()
	name := "."
	if len(args) == 1 {
		name = args[0]
	}
	m := &matrix{e: e, flags: f, live: e.Stdout, width: widest(targets)}
	if f.output.Value == "junit" {
		m.live = e.Stderr
	}
	site, folder, err := packSite(ctx, e, name)
	if err != nil {
		return err
	}
	m.test = stages.Test{Open: openProgram, Bundle: site, Reboot: f.system.reboot, Now: e.Clock.Now}
	if f.system.from != "" {
		if m.test.From, err = packEarlier(ctx, e, folder, f.system.from); err != nil {
			return fmt.Errorf("--from: %w", err)
		}
	}
	if m.specs, err = lint.FilesBelow(folder.Dir, "_spec.lua", nil); err != nil {
		return err
	}
	if m.wanted, err = f.wanted(); err != nil {
		return err
	}
	m.pool = newPool(e)
	drivers := make([]testsystem.Driver, len(targets))
	for i, t := range targets {
		if drivers[i], err = m.pool.DriverFor(t, f.system.driver); err != nil {
			return err
		}
	}
	start := e.Clock.Now()
	runs := make([]systemRun, len(targets))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(f.system.parallel, len(targets)) {
		workers.Go(func() {
			for i := range next {
				runs[i] = m.run(ctx, targets[i], drivers[i])
			}
		})
	}
	for i := range targets {
		next <- i
	}
	close(next)
	workers.Wait()
	if err := m.report(runs, e.Clock.Now().Sub(start)); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return cli.Status(cli.ExitInterrupted)
	}
	if slices.ContainsFunc(runs, func(r systemRun) bool { return r.err != nil || len(r.failed()) > 0 }) {
		return cli.Status(cli.ExitUsage)
	}
	return nil
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
	m.print(t, "started  with "+d.Name())
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

// report writes the summary.
func (m *matrix) report(runs []systemRun, took time.Duration) error {
	passed := 0
	for _, r := range runs {
		if r.err == nil && len(r.failed()) == 0 {
			passed++
		}
	}
	noun := "systems"
	if len(runs) == 1 {
		noun = "system"
	}
	terminal.Fprintf(m.live, "\n%d %s: %d passed, %d failed (%s)\n", len(runs), noun, passed, len(runs)-passed, part.Took(took))
	for _, r := range runs {
		state := "passed"
		switch {
		case r.err != nil:
			state = "failed: " + strings.ReplaceAll(r.err.Error(), "\n", "; ")
		case len(r.failed()) > 0:
			state = "failed: " + strings.Join(r.failed(), ", ")
		}
		terminal.Fprintf(m.live, "  %s  %s\n", fmt.Sprintf("%-*s", m.width, r.target.Name), state)
	}
	for _, line := range differences(runs) {
		terminal.Fprintf(m.live, "%s\n", line)
	}
	for _, r := range runs {
		if r.keptName != "" {
			terminal.Fprintf(m.live, "%s is running: enter it with ccm try --enter %s, remove it with ccm try --remove %s\n", r.target.Name, r.keptName, r.keptName)
		}
	}
	var text bytes.Buffer
	if err := junit.Write(&text, suites(runs)); err != nil {
		return err
	}
	if m.flags.system.report != "" {
		if err := host.New(host.Options{}).Save(m.flags.system.report, text.Bytes(), 0o644); err != nil {
			return fmt.Errorf("--report: %w", err)
		}
	}
	if m.flags.output.Value == "junit" {
		_, err := m.e.Stdout.Unwrap().Write(text.Bytes())
		return err
	}
	return nil
}

// differences describes the resources that fail on some systems and not on others.
func differences(runs []systemRun) (lines []string) {
	type place struct{ stage, resource string }
	var order []place
	on := make(map[place][]string)
	for _, r := range runs {
		for _, s := range r.stages {
			for _, p := range s.Problems {
				at := place{s.Name, p.Resource}
				if p.Resource == "" || slices.Contains(on[at], r.target.Name) {
					continue
				}
				if on[at] == nil {
					order = append(order, at)
				}
				on[at] = append(on[at], r.target.Name)
			}
		}
	}
	for _, at := range order {
		var others []string
		for _, r := range runs {
			reached := slices.ContainsFunc(r.stages, func(s stages.Stage) bool { return s.Name == at.stage && s.Status != stages.Skipped })
			if reached && !slices.Contains(on[at], r.target.Name) {
				others = append(others, r.target.Name)
			}
		}
		if len(others) > 0 {
			lines = append(lines, fmt.Sprintf("%s fails (%s) on %s, and not on %s: choose by facts.os.family, or use a resource that knows both",
				at.resource, at.stage, strings.Join(on[at], ", "), strings.Join(others, ", ")))
		}
	}
	return lines
}

// suites returns the results as JUnit has them: a suite for each system, a case for each stage.
func suites(runs []systemRun) []junit.Suite {
	var list []junit.Suite
	for _, r := range runs {
		name := terminal.Line(r.target.Name)
		suite := junit.Suite{Name: name}
		for _, s := range r.stages {
			c := junit.Case{Class: name, Name: s.Name, Time: junit.SecondsOf(s.Duration), Output: terminal.Lines(s.Note)}
			var texts []string
			for _, p := range s.Problems {
				texts = append(texts, p.String())
			}
			switch s.Status {
			case stages.Failed:
				c.Failure = junit.Because(terminal.Lines(strings.Join(texts, "\n")))
			case stages.Skipped:
				c.Skipped = &junit.Result{Message: terminal.Line(s.Note)}
			}
			suite.Add(c)
		}
		if r.err != nil {
			suite.Add(junit.Case{Class: name, Name: "system", Error: junit.Because(terminal.Lines(r.err.Error()))})
		}
		list = append(list, suite)
	}
	return list
}
