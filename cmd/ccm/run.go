package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/terminal"
)

// runFlags are the flags of run and plan.
type runFlags struct {
	siteFlags
	recordFlags
	noop        bool
	output      *choice
	detailed    bool
	diff        *choice
	stateDir    string
	lockTimeout time.Duration
	verbose     bool
	quiet       bool
	asked       bool // a resource is named on the command line
	drift       bool // the machine is compared with the past
	debug       bool
	monitorOnly bool
	interactive bool
	render      bool
	idempotent  bool
	profile     profileFlag
}

func (e *env) runCommand() *cobra.Command {
	f := &runFlags{}
	cmd := &cobra.Command{
		Use: "run FILE [ARG...]", Aliases: []string{"apply"},
		Short: "Bring this machine to the state that a script or manifest describes",
		Long: `Bring this machine to the state that a Lua script or a YAML manifest
describes. FILE may be - for standard input. The ARGs are arg[1] and on in a
script; what follows -- is never taken for a flag.`,
		Args: needFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.interactive {
				return e.interactively(cmd.Context(), f, args)
			}
			return e.profiled(cmd.Context(), &f.profile, func(ctx context.Context) error { return e.converge(ctx, f, args) })
		},
	}
	f.add(cmd, report.DiffSummary)
	cmd.Flags().BoolVarP(&f.interactive, "interactive", "i", false, "evaluate FILE and prompt, as repl does")
	cmd.MarkFlagsMutuallyExclusive("interactive", "profile")
	cmd.Flags().BoolVarP(&f.noop, "noop", "n", false, "only say what would be done")
	cmd.Flags().BoolVar(&f.noop, "dry-run", false, "the same as --noop")
	cmd.Flags().BoolVar(&f.render, "render", false, "print the manifest with all that is resolved in it, and do nothing")
	cmd.Flags().BoolVar(&f.monitorOnly, "monitor-only", false, "only run the health checks")
	cmd.Flags().BoolVar(&f.idempotent, "check-idempotent", false, "look again after the run, and fail naming what a second run would change")
	for _, other := range []string{"noop", "dry-run", "monitor-only"} {
		cmd.MarkFlagsMutuallyExclusive("check-idempotent", other)
	}
	return cmd
}

func (e *env) planCommand() *cobra.Command {
	f := &runFlags{noop: true}
	cmd := &cobra.Command{
		Use:   "plan FILE [ARG...]",
		Short: "Say what run would do, and touch nothing",
		Args:  needFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.profiled(cmd.Context(), &f.profile, func(ctx context.Context) error { return e.converge(ctx, f, args) })
		},
	}
	f.add(cmd, report.DiffFull)
	return cmd
}

// needFile reports a command line without a script or manifest.
func needFile(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return diag.Errorf(diag.Pos{}, "want a script or manifest").WithHint("%s FILE; - is standard input", cmd.CommandPath())
	}
	return nil
}

func (f *runFlags) add(cmd *cobra.Command, diff report.DiffMode) {
	fs := cmd.Flags()
	f.siteFlags.add(fs)
	f.recordFlags.add(fs)
	f.output = newChoice("text", "text", "json")
	f.diff = newChoice(string(diff), diff.Values()...)
	f.addReport(cmd)
	f.profile.add(cmd)
	fs.BoolVar(&f.detailed, "detailed-exitcodes", false, "exit with 0 if nothing is to do, 2 on changes, 4 on failures, 6 on both")
	fs.DurationVar(&f.lockTimeout, "lock-timeout", 0, "how long to wait for another run to end")
}

// addReport adds the flags about what is told, and those that every command has
// which looks at the machine or at what was done to it.
func (f *runFlags) addReport(cmd *cobra.Command) {
	cmd.Annotations = map[string]string{tellsEvents: "yes"}
	fs := cmd.Flags()
	fs.Var(f.output, "output", "form of the report: text, or json (one object a line)")
	fs.Var(f.diff, "diff", "how much is told of what differs: off, summary or full")
	fs.StringVar(&f.stateDir, "state-dir", "", "keep state in `DIR` (default CCM_STATE_DIR, else /var/lib/ccm or ~/.local/state/ccm)")
	fs.BoolVarP(&f.verbose, "verbose", "v", false, "report stable resources too")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "report failures only")
	fs.BoolVar(&f.debug, "debug", false, "log every effect on the machine")
	cmd.MarkFlagsMutuallyExclusive("verbose", "quiet")
	for name, c := range map[string]*choice{"output": f.output, "diff": f.diff} {
		_ = cmd.RegisterFlagCompletionFunc(name, c.complete)
	}
}

// converge is run and plan.
func (e *env) converge(ctx context.Context, f *runFlags, args []string) (err error) {
	if f.render {
		return e.render(ctx, args[0], &f.siteFlags)
	}
	rep := e.newReport(f)
	e.runner = &observed{Runner: e.exec()}
	e.commands.Begin(rep.id, nil)
	if !f.noop {
		e.lockEarly(ctx, f, rep.id)
		defer e.unlockEarly()
	}
	h := host.New(host.Options{
		Refuse: e.secrets.RefuseArgv, Root: f.root, Clock: e.clock, Runner: e.runner, Log: e.logger(rep.stderr, f.debug), Effect: e.effect, BeforeChange: e.keep, Leaves: e.leaves, Progress: rep.progress,
	})
	e.reading.limit(f.evalTimeout, f.timeout)
	s, err := e.load(ctx, h, args[0], args[1:], &f.siteFlags, f.noop)
	if err != nil {
		return err
	}
	defer s.close()
	name, err := siteName(args[0])
	if err != nil {
		return err
	}
	e.spent.enter(phaseState)
	rec, err := e.record(ctx, f, rep.id, "run", name)
	if err != nil {
		return err
	}
	var sum converge.Summary
	defer func() { rec.end(sum) }()
	engine := &converge.Engine{
		Registry: s.registry, Facts: s.facts, Reporter: rep.reporters,
		Texts:       f.diff.value != string(report.DiffOff),
		MonitorOnly: f.monitorOnly, Stop: e.stop, Sequential: e.sequential,
	}
	if f.noop || e.alone {
		engine.Prefetcher = s.prefetch
	}
	if err := rec.attach(engine, s.catalog); err != nil {
		return err
	}
	after := e.messages(s.manifest)
	ctx, cancel := f.limited(ctx)
	defer cancel()
	told := s.tellScripts(ctx, engine, e.explain)
	engine.Reporter = e.spent.watch(engine.Reporter)
	e.spent.enter(phaseConverge)
	if f.noop {
		sum = engine.Plan(ctx, &h.View, s.catalog)
	} else {
		sum = engine.Run(ctx, h, s.catalog)
	}
	e.spent.enter(phaseReport)
	if err := rep.end(sum); err != nil {
		return err
	}
	after()
	if _, ok := errors.AsType[errRunTimeout](context.Cause(ctx)); ok {
		code, _ := exitStatus(sum, f.detailed).(status)
		if sum.Interrupted {
			code = exitOK
		}
		return code | exitFailed
	}
	if told.failed && !sum.Interrupted {
		code, _ := exitStatus(sum, f.detailed).(status)
		return code | exitFailed
	}
	if f.idempotent && !sum.Interrupted && sum.Of(converge.Failed) == 0 && !e.checkIdempotent(ctx, s, &h.View) {
		code, _ := exitStatus(sum, f.detailed).(status)
		return code | exitFailed
	}
	return exitStatus(sum, f.detailed)
}

// exitStatus returns the exit status of a run or plan, nil for 0.
func exitStatus(s converge.Summary, detailed bool) error {
	if s.Interrupted {
		return status(exitInterrupted)
	}
	code := exitOK
	if s.Of(converge.Failed) > 0 {
		code = exitFailed
	}
	if detailed && s.Of(converge.Changed)+s.Of(converge.Pending)+s.Of(converge.Unknown) > 0 {
		code |= exitChanges
	}
	if code == exitOK {
		return nil
	}
	return status(code)
}

// logger returns the log of a run: what commands say, and with debug every
// effect.
func (e *env) logger(w terminal.Printer, debug bool) *slog.Logger {
	level := slog.LevelInfo
	if debug {
		level = slog.LevelDebug
	}
	return slog.New(terminal.NewLogHandler(w, level, e.colorful(e.stderr)))
}
