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
	form   *choice // in which values are written
}

func newReplCommand(e *env) *cobra.Command {
	f := &replFlags{}
	cmd := &cobra.Command{
		Use:   "repl [FILE [ARG...]]",
		Short: "Explore facts, try resources and see the plan, at a prompt",
		Long: `Evaluate what is typed, line by line. What is declared goes into a scratch
catalog; nothing on this machine is touched before .apply, which shows the plan
and asks. FILE is evaluated first. .help lists the commands, Tab completes.

  ccm> facts.os
  ccm> file { "/etc/motd", content = "hi\n", owner = "root", group = "root", mode = "0644" }
  ccm> .plan

If standard input is not a terminal, it is one script: there is no prompt, and
the exit status is that of run.`,
		RunE: func(cmd *cobra.Command, args []string) error { return startRepl(cmd.Context(), e, f, args) },
	}
	f.add(cmd.Flags())
	cmd.Flags().BoolVar(&f.noInit, "no-init", false, "leave the file repl.lua in the configuration directory alone")
	cmd.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "begin without a word")
	return cmd
}

func (f *replFlags) add(fs *pflag.FlagSet) {
	f.siteFlags.add(fs)
	f.recordFlags.add(fs)
	f.form = newChoice(repl.OutputLua, repl.Outputs...)
	f.output = newChoice("text")
	f.diff = newChoice(string(report.DiffSummary), report.DiffSummary.Values()...)
	fs.Var(f.form, "output", "form in which values are written: lua, json or yaml")
	fs.StringVar(&f.stateDir, "state-dir", "", "keep state in `DIR` (default CCM_STATE_DIR, else /var/lib/ccm or ~/.local/state/ccm)")
	fs.DurationVar(&f.lockTimeout, "lock-timeout", 0, "how long to wait for another run to end")
	fs.BoolVar(&f.debug, "debug", false, "log every effect on the machine")
}

// runInteractively is run --interactive.
func runInteractively(ctx context.Context, e *env, f *runFlags, args []string) error {
	return startRepl(ctx, e, &replFlags{runFlags: *f, form: newChoice(repl.OutputLua, repl.Outputs...)}, args)
}

// noDeadline is how long a text may take that a person can interrupt.
const noDeadline = 365 * 24 * time.Hour

// startRepl prompts, or evaluates standard input if nobody is there to type.
func startRepl(ctx context.Context, e *env, f *replFlags, args []string) error {
	typing := terminal.IsTerminal(e.Stdin)
	if typing {
		f.EvalTimeout = noDeadline
	}
	p, err := newPrompt(ctx, e, f, args, e.stdout)
	if err != nil {
		return err
	}
	defer p.Dialog.Close()
	if typing {
		return p.Converse(ctx)
	}
	text, err := e.ReadStdin(ctx)
	if err != nil {
		return err
	}
	file := ""
	if len(args) > 0 {
		file = args[0]
	}
	return p.Script(ctx, file, site.Stdin, string(text))
}

// newPrompt makes a dialog that has heard nothing yet. What scripts print goes
// to print.
func newPrompt(ctx context.Context, e *env, f *replFlags, args []string, print io.Writer) (*prompt.Prompt, error) {
	greeting := ""
	if !f.quiet {
		greeting = "ccm " + e.build.Version + " (Lua 5.1). .help helps, Ctrl-D leaves.\n"
	}
	color := colorful(e, e.stdout)
	return prompt.New(ctx, e.Process, prompt.Options{
		Site: f.siteFlags.options(), Record: f.recordFlags.options(f.Root), Args: args, Plan: f.noop, Diff: report.DiffMode(f.diff.value),
		Form: f.form.value, Print: print, Data: e.print().data(), Stdout: e.stdout, Color: color, Init: !f.noInit, Greeting: greeting,
		Log: func(w terminal.Printer) *slog.Logger { return newLogger(e, w, f.debug) },
		Terminal: term.New(term.Options{
			Stdin: e.Stdin, Stdout: e.stdout, Stderr: e.stderr, Color: color, Mode: e.screen, Stop: e.Stop, Warn: e.Messages.Warn,
			CheckFound: e.Files.Trust().CheckFound, HasTool: hasTool, RunTool: runTool, Exit: func() { os.Exit(exitInterrupted) },
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
