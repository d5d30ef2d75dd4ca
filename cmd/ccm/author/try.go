package author

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/testsystem"
	"github.com/luaccm/ccm/runtime/testsystem/stages"
)

// tryFlags are the flags of try.
type tryFlags struct {
	systemFlags
	system, enter, remove string
}

// TryCommand returns the command try.
func TryCommand(e *cli.Env) *cobra.Command {
	f := new(tryFlags)
	cmd := &cobra.Command{
		Use:   "try SITE --system SYSTEM [-- COMMAND...]",
		Short: "Open a shell in a throw-away system with the site applied",
		Long: `Apply a site to a throw-away system, and open a shell in it. The system is removed when
the shell exits.

  ccm try site.lua --system debian:12
  ccm try site.lua --system rocky:9 -- systemctl status nginx
  ccm try --enter debian-12-3f9a1c

--enter opens a shell in a system that ccm test --keep has left running, and --remove
removes it.

Exit status: that of the shell or command.`,
		ValidArgsFunction: cli.CompleteFile("gz", "tgz"),
		RunE: func(cmd *cobra.Command, args []string) error {
			command := []string{"sh", "-c", "command -v bash > /dev/null && exec bash -l; exec sh -l"}
			if dash := cmd.ArgsLenAtDash(); dash >= 0 {
				if len(args) > dash {
					command = args[dash:]
				}
				args = args[:dash]
			}
			ctx, cancel := e.Stop.Context(cmd.Context())
			defer cancel()
			if f.enter != "" || f.remove != "" {
				if len(args) > 0 {
					return diag.At(diag.Pos{}, diag.Expected("no site with --enter and --remove").Got("%q", args[0]))
				}
				return useKept(ctx, e, f, command)
			}
			if len(args) != 1 || f.system == "" {
				return diag.At(diag.Pos{}, diag.Expected("one site and a system")).WithHint("ccm try site.lua --system debian:12")
			}
			return try(ctx, e, f, args[0], command)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.system, "system", "", "the throw-away `SYSTEM`, such as debian:12")
	f.addDriver(fl)
	fl.StringVar(&f.enter, "enter", "", "open a shell in the kept system `NAME`")
	fl.StringVar(&f.remove, "remove", "", "remove the kept system `NAME`")
	cmd.MarkFlagsMutuallyExclusive("system", "enter", "remove")
	return cmd
}

// useKept enters a system that was kept, or removes it.
func useKept(ctx context.Context, e *cli.Env, f *tryFlags, command []string) error {
	pool := newPool(e, false)
	s, record, err := pool.Attach(ctx, f.enter+f.remove)
	if err != nil {
		return err
	}
	status, err := 0, error(nil)
	if f.enter != "" {
		status, err = enter(ctx, e, s, command)
	}
	err = errors.Join(err, pool.End(context.WithoutCancel(ctx), s, record, f.enter != ""))
	if err == nil {
		err = cli.Status(status).Err()
	}
	return err
}

// try applies a site to a new system, and enters that.
func try(ctx context.Context, e *cli.Env, f *tryFlags, name string, command []string) (err error) {
	target, err := testsystem.ParseTarget(f.system)
	if err != nil {
		return fmt.Errorf("--system: %w", err)
	}
	site, _, err := packSite(ctx, e, name)
	if err != nil {
		return err
	}
	pool := newPool(e, f.refresh)
	pool.Making = func(t testsystem.Target) { terminal.Fprintf(e.Stderr, "ccm: making %s\n", imageNote) }
	driver, err := pool.DriverFor(target, f.driver)
	if err != nil {
		return err
	}
	s, record, err := pool.Start(ctx, target, driver)
	if err != nil {
		return err
	}
	status := 0
	defer func() {
		failure := pool.End(context.WithoutCancel(ctx), s, record, false)
		switch {
		case ctx.Err() != nil && failure == nil:
			err = cli.Status(cli.ExitInterrupted)
		case err == nil && failure == nil:
			err = cli.Status(status).Err()
		default:
			err = errors.Join(err, failure)
		}
	}()
	test := stages.Test{Open: openProgram, Bundle: site}
	if err := test.Install(ctx, s); err != nil {
		return err
	}
	code, err := s.Exec(ctx, testsystem.Cmd{Argv: []string{stages.Program, "run", stages.Site}, Stdout: e.Stderr, Stderr: e.Stderr})
	if err != nil {
		return err
	}
	if code != 0 {
		terminal.Fprintf(e.Stderr, "ccm: the run failed (exit status %d)\n", code)
	}
	status, err = enter(ctx, e, s, command)
	return err
}

// enter runs a command in a system, on the terminal if there is one.
func enter(ctx context.Context, e *cli.Env, s testsystem.System, command []string) (int, error) {
	onTerminal := terminal.IsTerminal(e.Stdin)
	if onTerminal {
		terminal.Fprintf(e.Stderr, "ccm: %s is in the PATH; exit leaves the system\n", strings.TrimPrefix(stages.Program, "/usr/local/bin/"))
	}
	return s.Exec(ctx, testsystem.Cmd{Argv: command, Terminal: onTerminal, Stdin: e.Stdin, Stdout: e.Stdout.Unwrap(), Stderr: e.Stderr.Unwrap()})
}
