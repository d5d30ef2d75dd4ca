package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"

	ccmapi "github.com/luaccm/ccm"
	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/manifest"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/words"
	"github.com/luaccm/ccm/site"
)

// runFlags are the flags of run and plan.
type runFlags struct {
	cli.SiteFlags
	cli.RecordFlags
	reportFile    reportFile
	noop          bool
	force         bool // restore what was changed after ccm wrote it too
	output        *cli.Choice
	detailed      bool
	diff          *cli.Choice
	verbose       bool
	quiet         bool
	stream        bool
	diffLines     uint
	sort          *cli.Choice // of a plan; nil for other commands
	group         bool        // alike resources on one line
	counts        bool        // only numbers of resources
	oneOff        bool        // a resource is named on the command line
	drift         bool        // the machine is compared with the applied state
	debug         bool
	monitorOnly   bool
	interactive   bool
	render        bool
	idempotent    bool
	profile       profileFlag
	out           string          // the file for the plan, or ""
	compare       string          // the other version of the site for a plan, or ""
	plan          *site.SavedPlan // the saved plan to run, or nil
	siteArguments string          // the script or manifest with flags and arguments, for messages that suggest another command
	confirm       bool
	register      *cli.Choice // nil if nothing is registered
	step          bool
	tty           *terminal.Writer // for questions; nil if none is asked
}

func newRunCommand(e *cli.Env) *cobra.Command {
	f := &runFlags{}
	cmd := &cobra.Command{
		Use: "run FILE [ARG...]", Aliases: []string{"apply"},
		Short: "Apply a script or manifest to this machine",
		Long: `Apply a Lua script or YAML manifest to this machine.

  ccm run site.lua
  ccm run site.lua --noop

FILE may be a bundle, a URL, or - for standard input. A script reads ARGs as arg[1],
arg[2] and so on. Arguments after -- are never parsed as flags.

FILE may be a plan saved with ccm plan --out. Then exactly this plan is applied, or
nothing if the site or the affected resources have changed since.`,
		Args: cli.NeedFile, ValidArgsFunction: cli.CompleteFile("plan", "gz", "tgz"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if args, err = f.readPlan(cmd, e, args); err != nil {
				return err
			}
			leave, err := f.enter(cmd.Context(), e, args[0])
			if err != nil {
				return err
			}
			defer leave(&err)
			if f.interactive {
				return runInteractively(cmd.Context(), e, f, args)
			}
			return profiled(cmd.Context(), e, &f.profile, func(ctx context.Context, t *site.Timings) error { return runSite(ctx, e, f, args, t) })
		},
	}
	f.add(cmd, report.DiffSummary)
	cmd.Flags().BoolVarP(&f.interactive, "interactive", "i", false, "evaluate FILE, then start the prompt of ccm repl")
	cmd.MarkFlagsMutuallyExclusive("interactive", "profile")
	cmd.Flags().BoolVarP(&f.noop, "noop", "n", false, "show what would change, without changing anything")
	cmd.Flags().BoolVar(&f.noop, "dry-run", false, "same as --noop")
	cmd.Flags().BoolVar(&f.render, "render", false, "print the manifest with all expressions evaluated, then exit")
	cmd.Flags().BoolVar(&f.monitorOnly, "monitor-only", false, "only run health checks")
	f.register = cli.NewRegisterChoice()
	cmd.Flags().Var(f.register, "register", cli.RegisterUsage)
	cmd.Flags().BoolVar(&f.idempotent, "check-idempotent", false, "check again after the run, and fail if anything would change")
	cmd.Flags().BoolVar(&f.confirm, "confirm", false, "show the plan, ask once, then apply it")
	cmd.Flags().BoolVar(&f.step, "step", false, "ask before changing each resource")
	for _, other := range []string{"noop", "dry-run", "monitor-only"} {
		cmd.MarkFlagsMutuallyExclusive("check-idempotent", other)
		cmd.MarkFlagsMutuallyExclusive("confirm", other)
		cmd.MarkFlagsMutuallyExclusive("step", other)
	}
	return cmd
}

func newPlanCommand(e *cli.Env) *cobra.Command {
	f := &runFlags{noop: true}
	cmd := &cobra.Command{
		Use:   "plan FILE [ARG...]",
		Short: "Show what run would change",
		Long: `Show what run would change. Read-only.

  ccm plan site.lua
  ccm plan site.lua --out site.plan && ccm run site.plan
  ccm plan site.lua --compare main --output markdown

--out saves the plan. ccm run applies exactly this plan, or nothing if the site or the
affected resources have changed since. A saved plan has the flags and arguments,
and digests of properties instead of their values. ccm plan FILE shows whether a saved plan is still valid.

--compare shows how the plan differs from that of another version of the site: a
branch, tag or commit of its git repository, or a folder. --output markdown is for
comments on pull requests.`,
		Args: cli.NeedFile, ValidArgsFunction: cli.CompleteFile("plan", "gz", "tgz"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if args, err = f.readPlan(cmd, e, args); err != nil {
				return err
			}
			if err := f.checkOut(e, args[0]); err != nil {
				return err
			}
			leave, err := f.enter(cmd.Context(), e, args[0])
			if err != nil {
				return err
			}
			defer leave(&err)
			if f.compare != "" || f.output.Value == outputMarkdown {
				return listPlan(cmd.Context(), e, f, args)
			}
			return profiled(cmd.Context(), e, &f.profile, func(ctx context.Context, t *site.Timings) error { return runSite(ctx, e, f, args, t) })
		},
	}
	f.add(cmd, report.DiffChanges)
	f.output = cli.NewChoice("text", "text", "json", outputMarkdown)
	output := cmd.Flags().Lookup("output")
	output.Value, output.Usage = f.output, "output format: text, json (one object per line) or markdown"
	cmd.Flags().StringVar(&f.compare, "compare", "", "show how the plan differs from that of `VERSION`, a git commit or folder")
	cmd.Flags().StringVar(&f.out, "out", "", "save the plan to `FILE` for ccm run FILE")
	f.sort = cli.NewChoice(sortOrder, sortOrder, sortRisk)
	cmd.Flags().Var(f.sort, "sort", "as applied (order), or failures and removals first (risk)")
	cmd.Flags().BoolVar(&f.group, "group", false, "combine similar resources on one line")
	cmd.Flags().BoolVar(&f.counts, "summary", false, "only show failures and the number of changes of each type")
	for _, other := range []string{"quiet", "sort", "group", "verbose"} {
		cmd.MarkFlagsMutuallyExclusive("summary", other)
	}
	for _, other := range []string{"out", "profile", "quiet"} {
		cmd.MarkFlagsMutuallyExclusive("compare", other)
	}
	check := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case f.isDigest() && f.output.Value == "json":
			return diag.Errorf(diag.Pos{}, "--sort, --group and --summary require --output text or markdown")
		case f.compare != "" && f.output.Value == "json":
			return diag.At(diag.Pos{}, diag.Requires("--compare", "--output text or markdown"))
		case f.out != "" && f.output.Value == outputMarkdown:
			return diag.At(diag.Pos{}, diag.Requires("--out", "--output text or json"))
		}
		return check(cmd, args)
	}
	cli.AddUnsavedFlag(cmd)
	return cmd
}

// The orders of a report.
const (
	sortOrder = "order"
	sortRisk  = "risk"
)

// outputMarkdown is the form of a report for comments on pull requests.
const outputMarkdown = "markdown"

// isDigest reports whether a plan is reported at its end, in another form than that of a run.
func (f *runFlags) isDigest() bool { return f.sort != nil && f.layout() != report.Layout{} }

// layout returns the form of a plan.
func (f *runFlags) layout() report.Layout {
	return report.Layout{Sorted: f.sort.Value == sortRisk, Grouped: f.group, Counts: f.counts}
}

func (f *runFlags) add(cmd *cobra.Command, diff report.DiffMode) {
	fs := cmd.Flags()
	f.SiteFlags.Add(fs)
	cli.AddBundleFlags(fs, &f.Bundle)
	f.RecordFlags.Add(fs)
	f.AddWithDataFlag(fs)
	f.output = cli.NewChoice("text", "text", "json")
	f.diff = cli.NewChoice(string(diff), diff.Values()...)
	f.addReport(cmd)
	f.profile.add(cmd)
	fs.BoolVar(&f.detailed, "detailed-exitcodes", false, "exit 0 if nothing changed, 2 on changes, 4 on failures, 6 on both")
	cli.DurationVar(fs, &f.LockTimeout, "lock-timeout", 0, "maximum time to wait for another run")
}

// diffUsage describes --diff.
const diffUsage = "off, summary, changes (diffs of existing files), full (new ones too)"

// addReport adds the flags of the output, and those of every command that looks at the machine or
// at earlier runs.
func (f *runFlags) addReport(cmd *cobra.Command) {
	cmd.Annotations = map[string]string{cli.TellsEvents: "yes"}
	fs := cmd.Flags()
	fs.Var(f.output, "output", "output format: text or json (one object per line)")
	fs.Var(f.diff, "diff", diffUsage)
	fs.StringVar(&f.StateDir, "state-dir", "", "`DIR` for history and backups; none: no records (default /var/lib/ccm)")
	fs.BoolVarP(&f.verbose, "verbose", "v", false, "also show resources that are up to date, and full diffs")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "only show failures")
	fs.UintVar(&f.diffLines, "diff-lines", 0, "show at most `N` lines of each diff (0 for all); implies --diff full")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := f.reportFile.check(); err != nil {
			return err
		}
		given, limited := cmd.Flags().Changed("diff"), cmd.Flags().Changed("diff-lines")
		switch {
		case !given && (limited || f.verbose):
			f.diff.Value = string(report.DiffFull)
		case !limited:
		case f.diff.Value != string(report.DiffFull):
			return diag.At(diag.Pos{}, diag.Requires("--diff-lines", "--diff full, got --diff %s", f.diff.Value))
		}
		return nil
	}
	f.reportFile.add(cmd)
	fs.BoolVar(&f.stream, "stream", false, "show output of commands line by line, with their resource")
	fs.BoolVar(&f.debug, "debug", false, "log each file written and each command run")
	cmd.MarkFlagsMutuallyExclusive("verbose", "quiet")
}

// commandLine returns the arguments with which another command sees the same site and state
// directory.
func (f *runFlags) commandLine(args []string) (string, error) {
	text, err := site.FlagsAndArguments(args[0], args[1:], f.SiteFlags.SiteOptions())
	if f.StateDir != "" {
		text = shellquote.Join("--state-dir", f.StateDir) + " " + text
	}
	return text, err
}

// runSite runs or plans a script or manifest.
func runSite(ctx context.Context, e *cli.Env, f *runFlags, args []string, timings *site.Timings) (err error) {
	if f.render {
		return cli.RenderManifest(ctx, e, args[0], &f.SiteFlags)
	}
	if err := f.openQuestions(e); err != nil {
		return err
	}
	if f.siteArguments, err = f.commandLine(args); err != nil {
		return err
	}
	if err := cli.ChooseRegister(f.register, &f.Data); err != nil {
		return err
	}
	rep := newReport(e, f)
	defer f.reportFile.write(e, f.quiet, &err)
	read := rep.reads(args[0])
	loaded, err := ccmapi.Load(ctx, args[0], f.options(e, rep, args[1:], timings))
	if err != nil {
		read()
		return err
	}
	defer loaded.Close()
	run := loaded.Unwrap()
	err = run.Begin(ctx) // here, so that the status line shows the wait for the lock
	if read(); err != nil {
		return err
	}
	after := printMessages(e, run.Site.Manifest)
	if f.plan != nil {
		if err := run.Follow(ctx, f.plan); err != nil {
			return f.followError(e, run, err)
		}
	}
	var plan *site.SavedPlan
	var sum event.Summary
	if f.confirm {
		if more, err := f.confirmRun(ctx, e, run, rep); !more || err != nil {
			return err
		}
	}
	if f.step {
		run.Ask(newStepper(ctx, e, f).ask)
	}
	if f.out != "" {
		plan, sum, err = run.MakePlan(ctx, rep.all())
	} else {
		rep.take(loaded.Run(ctx))
		sum = run.Summary()
	}
	if err = errors.Join(err, rep.end(sum), f.savePlan(e, run, plan, sum)); err != nil {
		return err
	}
	after()
	code, _ := exitStatus(sum, f.detailed).(cli.Status)
	switch {
	case run.TimedOut() && sum.Interrupted:
		f.reportFile.problem = diag.Exceeded("run", "time", words.Duration(f.Timeout))
		return cli.Status(cli.ExitFailed)
	case run.TimedOut(), run.ScriptFailed() && !sum.Interrupted:
		f.reportFile.problem = fmt.Errorf("%w (see standard error)", diag.Failed("a deferred function of the script", nil))
		return code | cli.ExitFailed
	}
	if err := run.Idempotence(); errors.Is(err, site.ErrInterrupted) {
		return err
	} else if err != nil {
		e.Messages.Explain(err)
		f.reportFile.problem = err
		return code | cli.ExitFailed
	}
	return code.Err()
}

// options returns the options that the flags set. Timings may be nil.
func (f *runFlags) options(e *cli.Env, rep *runReport, args []string, timings *site.Timings) ccmapi.Options {
	s := f.SiteFlags.SiteOptions()
	return ccmapi.Options{
		Root: s.Root, StateDir: f.StateDir, Args: args,
		Targets: s.Part.Targets, Tags: s.Part.Tags, SkipTags: s.Part.SkipTags,
		Strict: s.Strict, Noop: f.noop, CheckIdempotent: f.idempotent,
		EvalTimeout: s.EvalTimeout, Timeout: f.Timeout, LockTimeout: f.LockTimeout,
		Process: e.Process,
		RunOptions: &site.RunOptions{
			ID: rep.id, Site: s, Record: f.RecordFlags.RecordOptions(&f.Options), Host: rep.hostOptions(e, f), Reporters: rep.status,
			ForRun: f.out != "" || f.plan != nil, MonitorOnly: f.monitorOnly, Texts: f.diff.Value != string(report.DiffOff),
			Timings: timings, NamesUndeclared: f.output.Value == "text" && !f.quiet,
		},
	}
}

// followError returns the error of a plan that cannot be followed. A timeout counts as a failure,
// as in the run itself.
func (f *runFlags) followError(e *cli.Env, run *site.Run, err error) error {
	if !run.TimedOut() {
		return err
	}
	f.reportFile.problem = err
	e.Messages.Explain(err)
	return cli.Status(cli.ExitFailed)
}

// exitStatus returns the exit status of a run or plan, nil for 0.
func exitStatus(s event.Summary, detailed bool) error {
	if s.Interrupted {
		return cli.Status(cli.ExitInterrupted)
	}
	code := cli.ExitOK
	if s.Failed() {
		code = cli.ExitFailed
	}
	if detailed && s.Of(event.Changed)+s.Of(event.Pending)+s.Of(event.Unknown) > 0 {
		code |= cli.ExitChanges
	}
	if code == cli.ExitOK {
		return nil
	}
	return cli.Status(code)
}

// printMessages prints the message of a manifest for before a run, and returns a function that
// prints the message for after it.
func printMessages(e *cli.Env, m *manifest.Manifest) (after func()) {
	say := func(text string) {
		if text != "" {
			terminal.Fprintf(e.Stderr, "%s\n", terminal.LinesText(strings.TrimSuffix(text, "\n")))
		}
	}
	if m == nil {
		return func() {}
	}
	say(m.PreMessage)
	return func() { say(m.PostMessage) }
}
