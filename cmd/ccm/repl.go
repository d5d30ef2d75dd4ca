package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/luaapi/repl"
	"github.com/luaccm/ccm/luaapi/repl/term"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/site"
	"github.com/luaccm/ccm/site/prompt"
)

// replFlags are the flags of repl and eval.
type replFlags struct {
	runFlags
	noInit bool
	form   *cli.Choice // the form of printed values: one of repl.Outputs
}

func newReplCommand(e *cli.Env) *cobra.Command {
	f := &replFlags{}
	cmd := &cobra.Command{
		Use:   "repl [FILE [ARG...]]",
		Short: "Explore facts and try resources at an interactive prompt",
		Long: `Evaluate Lua line by line at a prompt.

  ccm> facts.os
  ccm> file { "/etc/motd", content = "hi\n", owner = "root", group = "root", mode = "0644" }
  ccm> .plan

Declared resources go into a scratch catalog. Nothing changes on this machine before
.apply, which shows the plan and asks. FILE is evaluated first. .help lists the
commands, and Tab completes.

If standard input is not a terminal, it is evaluated as one script, without a prompt,
and the exit status is that of run.`,
		RunE: func(cmd *cobra.Command, args []string) error { return startRepl(cmd.Context(), e, f, args) },
	}
	f.add(cmd.Flags())
	cmd.Flags().BoolVar(&f.noInit, "no-init", false, "ignore repl.lua in the configuration directory")
	cmd.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "start without a greeting")
	return cmd
}

func (f *replFlags) add(fs *pflag.FlagSet) {
	f.SiteFlags.Add(fs)
	f.RecordFlags.Add(fs)
	f.form = cli.NewChoice(repl.OutputLua, repl.Outputs...)
	f.output = cli.NewChoice("text")
	f.diff = cli.NewChoice(string(report.DiffSummary), report.DiffSummary.Values()...)
	fs.Var(f.form, "output", "format of values: lua, json or yaml")
	fs.StringVar(&f.StateDir, "state-dir", "", "state `DIR` (default CCM_STATE_DIR, /var/lib/ccm, ~/.local/state/ccm)")
	cli.DurationVar(fs, &f.LockTimeout, "lock-timeout", 0, "maximum time to wait for another run")
	fs.BoolVar(&f.debug, "debug", false, "log each file written and each command run")
}

// runInteractively opens the prompt on a script (run --interactive).
func runInteractively(ctx context.Context, e *cli.Env, f *runFlags, args []string) error {
	return startRepl(ctx, e, &replFlags{runFlags: *f, form: cli.NewChoice(repl.OutputLua, repl.Outputs...)}, args)
}

// noDeadline is the time limit of a text that a person can interrupt.
const noDeadline = 365 * 24 * time.Hour

// startRepl starts a prompt on a terminal; otherwise it evaluates standard input.
func startRepl(ctx context.Context, e *cli.Env, f *replFlags, args []string) error {
	typing := terminal.IsTerminal(e.Stdin)
	if typing {
		f.EvalTimeout = noDeadline
	}
	p, err := newPrompt(ctx, e, f, args, e.Stdout)
	if err != nil {
		return err
	}
	defer p.Dialog.Close()
	if typing {
		return p.Converse(ctx)
	}
	_, text, err := e.ReadInput(ctx, "-")
	if err != nil {
		return err
	}
	file := ""
	if len(args) > 0 {
		file = args[0]
	}
	return p.Script(ctx, file, site.Stdin, text)
}

// newPrompt returns a prompt that has read nothing yet. Output of scripts goes to print.
func newPrompt(ctx context.Context, e *cli.Env, f *replFlags, args []string, print io.Writer) (*prompt.Prompt, error) {
	greeting := ""
	if !f.quiet {
		greeting = "ccm " + e.Build.Version + " (Lua 5.1). Type .help for help, Ctrl-D to exit.\n"
	}
	color := cli.Colorful(e, e.Stdout)
	return prompt.New(ctx, e.Process, prompt.Options{
		Site: f.SiteFlags.SiteOptions(), Record: f.RecordFlags.RecordOptions(&f.Options), Args: args, Plan: f.noop, Diff: report.DiffMode(f.diff.Value),
		Form: f.form.Value, Print: print, Data: e.Print().Data(), Stdout: e.Stdout, Color: color, Init: !f.noInit, Greeting: greeting,
		Log: func(w terminal.Printer) *slog.Logger { return cli.NewLogger(e, w, f.debug) },
		Terminal: term.New(term.Options{
			Stdin: e.Stdin, Stdout: e.Stdout, Stderr: e.Stderr, Color: color, Mode: e.Screen, Stop: e.Stop, Warn: e.Messages.Warn,
			CheckFound: e.Files.Trust().CheckFound, HasTool: hasTool, RunTool: runTool, Exit: func() { os.Exit(cli.ExitInterrupted) },
		}),
	})
}

// hasTool reports whether a program can be run.
func hasTool(name string) bool {
	_, err := exec.LookPath(name)
	return err == nil
}

// runTool runs the editor or the pager of the user.
func runTool(ctx context.Context, words []string, stdin io.Reader) error {
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, os.Stdout, os.Stderr
	return cmd.Run()
}
