// Ccm brings a machine to the state that Lua scripts and YAML manifests
// describe, and says exactly what it did.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/luaapi/repl/term"
	"github.com/luaccm/ccm/runtime/collector"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/command"
	"github.com/luaccm/ccm/runtime/lazyregexp"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/site"
)

//go:generate go run . types --definitions ../../stdlib/meta/ccm.lua

func main() {
	began, cpu := clock.Now(), startCPU()
	collector.Relax()
	if _, set := os.LookupEnv("PATH"); !set {
		_ = os.Setenv("PATH", command.DefaultPath) // as after env -i, for the commands of a run too
	}
	log.SetOutput(io.Discard) // net/http logs what servers send, and reports it as an error too
	commands := new(command.Commands)
	// The first signal asks a run to end, the second ends it.
	ctx, cancel := context.WithCancel(context.Background())
	stop := make(chan struct{})
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// If the reader of the report goes away, the run goes on: writes fail, and the failure is reported
	// at the end. Started commands do not inherit this handling of the signal.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	screen := new(term.Mode)
	go func() {
		<-signals
		close(stop)
		<-signals
		cancel()
		select { // the third signal ends ccm at any moment
		case <-signals:
		case <-time.After(gracePeriod):
			printUnlessBlocked("ccm: interrupted, but the current step does not end")
		}
		commands.Kill()
		screen.Restore()
		os.Exit(cli.ExitInterrupted)
	}()
	e := newEnv(os.Stdin, os.Stdout, os.Stderr, clock)
	e.Stop, e.Effect, e.Commands, e.Screen, e.Began, e.StartCPU = stop, effect, commands, screen, began, cpu
	e.Overdue = func(reason error) {
		printUnlessBlocked("ccm: " + reason.Error())
		commands.Kill()
		screen.Restore()
		os.Exit(cli.ExitUsage)
	}
	end, err := profile()
	if err != nil {
		e.Messages.Explain(err)
		os.Exit(cli.ExitUsage)
	}
	args := os.Args[1:]
	if args, err = ownArguments(e, args); err != nil {
		e.Messages.Explain(err)
		os.Exit(cli.ExitUsage)
	}
	status := run(ctx, e, args)
	if err := end(); err != nil {
		e.Messages.Explain(err)
		status = max(status, cli.ExitUsage)
	}
	os.Exit(status)
}

// gracePeriod is the time after the second signal in which a run may still report and record its
// actions.
const gracePeriod = 750 * time.Millisecond

// printUnlessBlocked prints a line on standard error. If nobody reads, it gives up after a moment.
func printUnlessBlocked(line string) {
	done := make(chan struct{})
	go func() {
		terminal.Fprintf(terminal.NewWriter(os.Stderr), "%s\n", line)
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(50 * time.Millisecond):
	}
}

// effect is called before each effect on the machine and in the state directory; see host.Options.
// It is nil except in tests.
var effect func(op, path string) error

// newHost makes the hosts of runs; see site.Process. It is nil except in tests.
var newHost func(host.Options) *host.Host

// newEnv returns an env of this ccm that writes to the given writers.
func newEnv(stdin io.Reader, stdout, stderr io.Writer, clock host.Clock) *cli.Env {
	e := cli.NewEnv(stdin, stdout, stderr, clock, readBuildInfo())
	e.NewHost = newHost
	return e
}

// run runs ccm with these arguments, and returns the exit status. Tests call it, too.
func run(ctx context.Context, e *cli.Env, args []string) int {
	out := &terminal.StickyWriter{W: e.Stdout.Unwrap()}
	// Secrets are masked last, because they have to be found in their escaped form, too.
	stdout, stderr := secret.NewWriter(out, e.Secrets), secret.NewWriter(e.Stderr.Unwrap(), e.Secrets)
	e.Stdout, e.Stderr = terminal.NewWriter(stdout), terminal.NewWriter(stderr)
	e.Messages.W = e.Stderr
	code := recovered(ctx, e, args, out)
	_, _ = e.Stdout.Flush(), e.Stderr.Flush()
	_, _ = stdout.Flush(), stderr.Flush() // the error is kept by out
	// Whoever reads may stop reading: that is no mistake of ours.
	if code == cli.ExitOK && out.Err != nil && !errors.Is(out.Err, syscall.EPIPE) {
		e.Messages.Explain(fmt.Errorf("standard output: %w", out.Err))
		return cli.ExitUsage
	}
	return code
}

// recovered runs one command. The report of a panic is masked, too.
func recovered(ctx context.Context, e *cli.Env, args []string, out *terminal.StickyWriter) (code int) {
	defer func() {
		if x := recover(); x != nil {
			terminal.Fprintf(e.Stderr, "internal error in ccm: %v\n%s", x, terminal.LinesText(string(debug.Stack())))
			code = cli.ExitFailed
		}
	}()
	return execute(ctx, e, args, out)
}

// execute runs one command with out as standard output, and returns the exit status.
func execute(ctx context.Context, e *cli.Env, args []string, out *terminal.StickyWriter) int {
	e.Args = args
	defer e.Close()
	within, cancel := e.Stop.Context(ctx)
	defer cancel()
	e.Files.SetContext(within)
	root := newRootCommand(e)
	root.SetArgs(args)
	root.SetIn(e.Stdin)
	root.SetOut(e.Stdout)
	root.SetErr(e.Stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil {
		err = cmp.Or(unknownCommand(root, args), exclusionError(err))
	}
	if s, ok := errors.AsType[cli.Status](err); ok {
		return int(s)
	}
	switch {
	case errors.Is(err, site.ErrLockInterrupted), errors.Is(err, term.ErrStopped):
		return cli.ExitInterrupted
	case errors.Is(err, site.ErrInterrupted):
		e.Messages.Explain(site.ErrInterrupted)
		return cli.ExitInterrupted
	case errors.Is(err, syscall.EPIPE) && errors.Is(out.Err, syscall.EPIPE):
		return cli.ExitOK // ccm history | head
	}
	if err != nil {
		if reportsJSON(cmd) {
			err = errors.Join(err, explainJSON(e, err))
		}
		e.Messages.Explain(err)
		return cli.ExitUsage
	}
	return cli.ExitOK
}

// chooseState completes the flag of the state directory.
func chooseState(e *cli.Env, cmd *cobra.Command) error {
	f := cmd.Flag("state-dir")
	if f == nil {
		return nil
	}
	o := new(site.Options)
	if root := cmd.Flag("root"); root != nil {
		o.Root = root.Value.String()
	}
	if offline := cmd.Flag("offline"); offline != nil {
		o.Offline = offline.Value.String() == "true"
	}
	dir, err := e.State.Choose(f.Value.String(), o)
	if err != nil {
		return err
	}
	e.StateDir = dir
	return f.Value.Set(dir)
}

// newRootCommand returns ccm with its commands (addCommands).
func newRootCommand(e *cli.Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "ccm",
		Short: "Bring this machine into the state that a Lua script or YAML manifest describes",
		Long: `ccm brings this machine into the state that a Lua script or YAML manifest describes,
and reports exactly what changed.

  ccm plan site.lua    show what would change
  ccm run site.lua     apply the script

ccm docs prints the documentation: tutorial, guides and reference.
ccm help exit-codes explains the exit status.`,
		Version:      e.Build.Version,
		SilenceUsage: true, SilenceErrors: true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return flagError(cmd, err) })
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if f := cmd.Flag("sudo"); f != nil && f.Value.String() == "true" {
			if err := cli.BecomeRoot(escaped(e, e.Args)); err != nil {
				return err
			}
		}
		e.HasSudo = cmd.Flag("sudo") != nil && os.Geteuid() != 0
		e.Log = cli.NewLogger(e, e.Stderr, false)
		limitPaths(e, cmd)
		if err := chooseState(e, cmd); err != nil {
			return err
		}
		return cli.ReadUnsaved(e, cmd)
	}
	root.PersistentFlags().StringVar(&e.Color, "color", "auto", "colored output: auto, always or never")
	root.PersistentFlags().BoolVar(&e.Files.AllowInsecure, "allow-insecure", false, "as root, accept world-writable scripts and files")
	addCommands(e, root)
	root.SetHelpCommand(helpCommand())
	fitHelp(e, root)
	if cli.Completes(e) {
		completeParts(e, root)
		cli.CompleteFlag(e, root, "color", cobra.FixedCompletions([]string{"auto", "always", "never"}, cobra.ShellCompDirectiveNoFileComp))
		completeChoices(e, root)
		completeNoFiles(e, root)
		plainUsages(root)
	}
	return root
}

// wantedValues describes the values of flags by pflag's name of the type, for types whose errors
// pflag takes from strconv.
var wantedValues = map[string]string{
	"uint": "a whole number that is not negative", "int": "a whole number", "int64": "a whole number", "float64": "a number",
	"duration": "a duration such as 30s or 1h30m",
}

// foreignFlags are flags of other tools, with the flag of ccm that does the same. The nearest name can do the opposite:
// --check-idempotent changes the machine, Ansible's --check does not.
var foreignFlags = map[string]string{"check": "noop", "become": "sudo", "extra-vars": "fact"}

// unknownCommand returns the error about a command line whose first word is no command, nil for all others.
func unknownCommand(root *cobra.Command, args []string) error {
	at, rest, err := root.Find(args)
	if err == nil || at != root || len(rest) == 0 {
		return nil
	}
	var names []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(append(names, c.Name()), c.Aliases...)
		}
	}
	word := rest[0]
	if root.ParseFlags(rest) == nil && root.Flags().NArg() > 0 {
		word = root.Flags().Arg(0) // behind a flag such as --color
	}
	return diag.At(diag.Pos{}, diag.Unknown("command", word, nil)).
		WithHint("%s", cmp.Or(diag.DidYouMean(word, names), "list commands with: ccm help"))
}

// flagError completes the error about a flag: for an unknown flag with the nearest name, for an
// invalid value with the wanted kind of value.
func flagError(cmd *cobra.Command, err error) error {
	out := &diag.Error{Err: err}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		near := foreignFlags[unknown.GetSpecifiedName()]
		if cmd.Flag(near) == nil {
			near = diag.Nearest(unknown.GetSpecifiedName(), names)
		}
		if near != "" {
			out.Hint = "did you mean --" + near + "?"
		}
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		if want := wantedValues[invalid.GetFlag().Value.Type()]; want != "" {
			out.Err = fmt.Errorf("--%s: %w", invalid.GetFlag().Name, diag.Expected("%s", want).Got("%q", invalid.GetValue()))
		}
	}
	return out
}

// exclusive matches cobra's error about flags that exclude each other, of which it has no type.
var exclusive = lazyregexp.New(`^if any flags in the group .* are set none of the others can be; \[(\S+) ([^]\s]+)`)

// exclusionError words the error about flags that exclude each other.
func exclusionError(err error) error {
	if m := exclusive().FindStringSubmatch(err.Error()); m != nil {
		return diag.At(diag.Pos{}, diag.Conflicting("--"+m[1], "--"+m[2]))
	}
	return err
}
