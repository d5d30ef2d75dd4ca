package main

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/lmittmann/tint"
	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/state"
)

// runFlags are the flags of run and plan.
type runFlags struct {
	siteFlags
	noop        bool
	output      *choice
	detailed    bool
	diff        *choice
	stateDir    string
	lockTimeout time.Duration
	verbose     bool
	quiet       bool
	debug       bool
	monitorOnly bool
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
		RunE: func(cmd *cobra.Command, args []string) error { return e.converge(cmd.Context(), f, args) },
	}
	f.add(cmd, report.DiffSummary)
	cmd.Flags().BoolVarP(&f.noop, "noop", "n", false, "only say what would be done")
	cmd.Flags().BoolVar(&f.noop, "dry-run", false, "the same as --noop")
	cmd.Flags().BoolVar(&f.monitorOnly, "monitor-only", false, "only run the health checks")
	return cmd
}

func (e *env) planCommand() *cobra.Command {
	f := &runFlags{noop: true}
	cmd := &cobra.Command{
		Use:   "plan FILE [ARG...]",
		Short: "Say what run would do, and touch nothing",
		Args:  needFile,
		RunE:  func(cmd *cobra.Command, args []string) error { return e.converge(cmd.Context(), f, args) },
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
	f.output = newChoice("text", "text", "json")
	f.diff = newChoice(string(diff), diff.Values()...)
	fs.Var(f.output, "output", "form of the report: text, or json (one object a line)")
	fs.Var(f.diff, "diff", "how much is told of what differs: off, summary or full")
	fs.BoolVar(&f.detailed, "detailed-exitcodes", false, "exit with 0 if nothing is to do, 2 on changes, 4 on failures, 6 on both")
	fs.StringVar(&f.stateDir, "state-dir", "", "keep state in `DIR` (default CCM_STATE_DIR, else /var/lib/ccm or ~/.local/state/ccm)")
	fs.DurationVar(&f.lockTimeout, "lock-timeout", 0, "how long to wait for another run to end")
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
	rep := e.newReport(f)
	h := host.New(host.Options{Root: f.root, Clock: e.clock, Log: e.logger(rep.stderr, f.debug), Effect: e.effect})
	s, err := e.load(ctx, h, args[0], args[1:], &f.siteFlags, f.noop)
	if err != nil {
		return err
	}
	if !f.noop {
		unlock, err := state.Lock(ctx, state.Dir(f.stateDir), f.lockTimeout, h.Now())
		if err != nil {
			return err
		}
		defer func() { _ = unlock() }()
	}
	engine := &converge.Engine{
		Registry: s.registry, Facts: s.facts, Reporter: rep.reporters,
		Texts:       f.diff.value != string(report.DiffOff),
		FailOnError: s.failOnError, MonitorOnly: f.monitorOnly, Stop: e.stop,
	}
	var sum converge.Summary
	if f.noop {
		sum = engine.Plan(ctx, &h.View, s.catalog)
	} else {
		sum = engine.Run(ctx, h, s.catalog)
	}
	if err := rep.end(sum); err != nil {
		return err
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
func (e *env) logger(w io.Writer, debug bool) *slog.Logger {
	level := slog.LevelInfo
	if debug {
		level = slog.LevelDebug
	}
	return slog.New(tint.NewHandler(w, &tint.Options{Level: level, NoColor: !e.colorful(e.stderr), TimeFormat: time.TimeOnly}))
}
