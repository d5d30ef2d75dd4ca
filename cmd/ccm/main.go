// Ccm brings a machine to the state that Lua scripts and YAML manifests
// describe, and says exactly what it did.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/luaccm/ccm/luaapi/std"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/command"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/runtime/terminal"
)

// Exit statuses.
const (
	exitOK          = 0
	exitUsage       = 1   // could not start: command line, script, manifest, lock
	exitChanges     = 2   // with --detailed-exitcodes: something was changed, or would be
	exitFailed      = 4   // a resource failed
	exitInterrupted = 130 // ended by a signal
)

func main() {
	began, before := clock.Now(), beforeMain()
	relaxCollector()
	commands := new(command.Commands)
	// The first signal asks a run to end, the second ends it.
	ctx, cancel := context.WithCancel(context.Background())
	stop := make(chan struct{})
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// A reader of the report that goes away does not end a run half way: the write
	// fails, and that is said at the end. Commands do not inherit this.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	screen := new(terminalMode)
	go func() {
		<-signals
		close(stop)
		<-signals
		cancel()
		select { // the third ends ccm, whatever it is doing
		case <-signals:
		case <-time.After(lastWork):
			lastWords("ccm: interrupted, and what was being done does not end")
		}
		commands.Kill()
		screen.restore()
		os.Exit(exitInterrupted)
	}()
	e := &env{stdin: os.Stdin, stdout: terminal.NewWriter(os.Stdout), stderr: terminal.NewWriter(os.Stderr), stop: stop, clock: clock, effect: effect, commands: commands, screen: screen, began: began, before: before}
	end, err := profile()
	if err != nil {
		e.explain(err)
		os.Exit(exitUsage)
	}
	status := e.run(ctx, os.Args[1:])
	if err := end(); err != nil {
		e.explain(err)
		status = max(status, exitUsage)
	}
	os.Exit(status)
}

// lastWork is how long after the second signal a run may take to tell what it did
// and to record it.
const lastWork = 750 * time.Millisecond

// lastWords prints a line, unless nobody takes it.
func lastWords(line string) {
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

// clock is what tells the time; tests make it stand still.
var clock host.Clock = host.RealClock{}

// effect is asked before each effect on the machine and in the state directory;
// see host.Options. It is nil but in tests.
var effect func(op, path string) error

// An env is what commands use of the world, and what they share.
type env struct {
	stdin          io.Reader
	stdout, stderr *terminal.Writer
	clock          host.Clock
	stop           <-chan struct{} // closed when the run shall end; may be nil
	effect         func(op, path string) error
	commands       *command.Commands // that run
	screen         *terminalMode     // of the terminal that a person types on
	work           *state.Work       // what the run has not finished; nil if none goes on
	runner         *observed         // of the commands of this process; nil for any
	held           *state.Held       // the lock, if it was taken before the site was read; nil once the run has it
	alone          bool              // no other run has changed anything since the site was read
	sequential     bool              // each resource is looked at and written in its turn only
	color          string
	allowInsecure  bool               // files that everybody may write are believed
	recording      *state.Run         // the record of the run that is under way; nil if none is
	args           []string           // of the command line, for messages
	sources        diag.Sources       // texts that positions speak of
	instead        []resource.Factory // providers for tests; see surroundings
	began          time.Time          // when main began
	before         time.Duration      // what the process had used by then
	spent          *spent             // where the time of the run goes; nil unless that is asked for
	secrets        *secret.Keeper
	stateDir       string   // that the command line names, or ""
	modules        []string // directories of modules, from CCM_PATH
	logged         int      // how many of inputs were logged
	reading        reading
	inputs         []std.Input // what the script of the run looked at
}

// status is an exit status that is no error of its own: everything has been
// said.
type status int

// Error implements error.
func (s status) Error() string { return "exit status " + string(rune('0'+s)) }

// run is main for tests.
func (e *env) run(ctx context.Context, args []string) int {
	out := &checked{Writer: e.stdout.Unwrap()}
	if e.secrets == nil {
		e.secrets = secret.New(e.readKey)
	}
	// Secrets are taken out last: they are known as they are escaped, too.
	stdout, stderr := secret.NewWriter(out, e.secrets), secret.NewWriter(e.stderr.Unwrap(), e.secrets)
	e.stdout, e.stderr = terminal.NewWriter(stdout), terminal.NewWriter(stderr)
	code := e.recovered(ctx, args)
	_, _ = e.stdout.Flush(), e.stderr.Flush()
	_, _ = stdout.Flush(), stderr.Flush() // that it failed, out knows
	// Whoever reads may stop reading: that is no mistake of ours.
	if code == exitOK && out.err != nil && !errors.Is(out.err, syscall.EPIPE) {
		e.explain(fmt.Errorf("standard output: %w", out.err))
		return exitUsage
	}
	return code
}

// recovered runs one command. That it is broken it says without secrets.
func (e *env) recovered(ctx context.Context, args []string) (code int) {
	defer func() {
		if x := recover(); x != nil {
			terminal.Fprintf(e.stderr, "ccm is broken: %v\n%s", x, terminal.LinesText(string(debug.Stack())))
			code = exitFailed
		}
	}()
	return e.command(ctx, args)
}

// A checked is a writer that remembers its first error, so that no command has to
// ask after each line whether anybody got it.
type checked struct {
	io.Writer
	err error
}

// Unwrap returns what is written to.
func (c *checked) Unwrap() io.Writer { return c.Writer }

// Write implements io.Writer.
func (c *checked) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	if c.err == nil {
		c.err = err
	}
	return n, err
}

// command runs one command and returns its exit status.
func (e *env) command(ctx context.Context, args []string) int {
	e.args = args
	within, cancel := e.untilStopped(ctx)
	defer cancel()
	e.reading = reading{within, inputPatience}
	root := e.rootCommand()
	root.SetArgs(args)
	root.SetIn(e.stdin)
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if s, ok := errors.AsType[status](err); ok {
		return int(s)
	}
	if err != nil {
		if reportsJSON(cmd) {
			err = errors.Join(err, e.explainJSON(err))
		}
		e.explain(err)
		return exitUsage
	}
	return exitOK
}

// explain prints an error in the one form for all front ends.
func (e *env) explain(err error) {
	var list diag.List
	list.Add(err)
	for i, d := range list {
		if i == diag.MaxShown {
			terminal.Fprintf(e.stderr, "ccm: and %d more mistakes\n", len(list)-i)
			return
		}
		prefix := ""
		if d.Pos.IsZero() {
			prefix = "ccm: "
		}
		diag.Render(e.stderr, prefix, d, e.sources)
	}
}

func (e *env) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "ccm",
		Short: "Bring a machine to the state that a Lua script or a YAML manifest describes",
		Long: `ccm reads what a machine should look like from a Lua script or a YAML
manifest, changes what is not so, and says exactly what it did.

  ccm run site.lua     make it so
  ccm plan site.lua    say what run would do, and touch nothing

ccm help exit-codes says what the exit status means.`,
		Version:      readBuildInfo().Version,
		SilenceUsage: true, SilenceErrors: true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: false},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return flagError(cmd, err) })
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) {
		if f := cmd.Flag("state-dir"); f != nil {
			e.stateDir = f.Value.String()
		}
		e.limitPaths(cmd)
	}
	root.PersistentFlags().StringVar(&e.color, "color", "auto", "colours in output: auto, always or never")
	root.PersistentFlags().BoolVar(&e.allowInsecure, "allow-insecure", false, "as root, believe files that everybody may write, too")
	root.AddCommand(
		e.replCommand(), e.evalCommand(),
		e.runCommand(), e.planCommand(), e.convertCommand(), e.factsCommand(), e.docCommand(), e.versionCommand(),
		e.historyCommand(), e.diffCommand(), e.restoreCommand(), e.undoCommand(), e.driftCommand(),
		e.ensureCommand(), e.statusCommand(), e.sessionCommand(), e.schemaCommand(), e.dataCommand(), e.hieraCommand(),
		e.importCommand(), e.graphCommand(), e.catalogCommand(),
		e.typesCommand(), e.initCommand(), e.lintCommand(), e.testCommand(),
		exitCodesTopic(),
	)
	root.SetHelpCommand(helpCommand())
	e.completeTargets(root)
	return root
}

// flagError adds the nearest flag to the error about one that is not there.
func flagError(cmd *cobra.Command, err error) error {
	out := &diag.Error{Err: err}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := diag.Nearest(unknown.GetSpecifiedName(), names); near != "" {
			out.Hint = "did you mean --" + near + "?"
		}
	}
	return out
}
