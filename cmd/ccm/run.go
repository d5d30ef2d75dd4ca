package main

import (
	"context"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/site"
)

// runFlags are the flags of run and plan.
type runFlags struct {
	siteFlags
	recordFlags
	noop        bool
	output      *choice
	detailed    bool
	diff        *choice
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

func newRunCommand(e *env) *cobra.Command {
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
				return runInteractively(cmd.Context(), e, f, args)
			}
			return profiled(cmd.Context(), e, &f.profile, func(ctx context.Context, t *site.Timings) error { return runSite(ctx, e, f, args, t) })
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

func newPlanCommand(e *env) *cobra.Command {
	f := &runFlags{noop: true}
	cmd := &cobra.Command{
		Use:   "plan FILE [ARG...]",
		Short: "Say what run would do, and touch nothing",
		Args:  needFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			return profiled(cmd.Context(), e, &f.profile, func(ctx context.Context, t *site.Timings) error { return runSite(ctx, e, f, args, t) })
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

// runSite is run and plan.
func runSite(ctx context.Context, e *env, f *runFlags, args []string, timings *site.Timings) error {
	if f.render {
		return renderManifest(ctx, e, args[0], &f.siteFlags)
	}
	rep := newReport(e, f)
	run, err := e.Begin(ctx, args[0], args[1:], &site.RunOptions{
		ID: rep.id, Site: f.siteFlags.options(), Record: f.recordFlags.options(f.Root), Host: rep.hostOptions(e, f),
		Plan: f.noop, MonitorOnly: f.monitorOnly, Texts: f.diff.value != string(report.DiffOff), Reporter: rep.reporters, Timings: timings,
	})
	if err != nil {
		return err
	}
	defer run.End()
	after := printMessages(e, run.Site.Manifest)
	sum := run.Converge(ctx)
	if err := rep.end(sum); err != nil {
		return err
	}
	after()
	code, _ := exitStatus(sum, f.detailed).(status)
	switch {
	case run.TimedOut() && sum.Interrupted:
		return status(exitFailed)
	case run.TimedOut(), run.ScriptFailed() && !sum.Interrupted:
		return code | exitFailed
	case f.idempotent && !sum.Interrupted && sum.Of(converge.Failed) == 0:
		if err := run.CheckIdempotent(ctx); err != nil {
			e.Messages.Explain(err)
			return code | exitFailed
		}
	}
	return code.err()
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

// err returns s as an error, nil if it is 0.
func (s status) err() error {
	if s == exitOK {
		return nil
	}
	return s
}

// newLogger returns the log of a run: what commands say, and with debug every
// effect.
func newLogger(e *env, w terminal.Printer, debug bool) *slog.Logger {
	level := slog.LevelInfo
	if debug {
		level = slog.LevelDebug
	}
	return slog.New(terminal.NewLogHandler(w, level, colorful(e, e.stderr)))
}
