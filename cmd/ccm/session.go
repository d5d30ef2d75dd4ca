package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/session"
	"github.com/luaccm/ccm/runtime/terminal"
)

func newSessionCommand(e *cli.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "session",
		Short: "Let ccm ensure in a shell script require earlier resources",
		Long: `Let ccm commands in a shell script refer to each other with --require and --subscribe.

  eval "$(ccm session new)"
  ccm ensure package nginx
  ccm ensure service nginx running --require package#nginx
  ccm session report --remove

A session is a directory in which the commands record their outcomes.`,
	}
	cmd.AddCommand(newSessionNewCommand(e), newSessionReportCommand(e))
	cli.NeedCommand(cmd)
	return cmd
}

func newSessionNewCommand(e *cli.Env) *cobra.Command {
	dir := ""
	cmd := &cobra.Command{
		Use: "new", Aliases: []string{"start", "create"},
		Short: "Start a session, and print shell code that sets it",
		Args:  cli.WantArguments(0, 0),
		RunE: func(*cobra.Command, []string) error {
			s, err := session.New(dir)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(e.Print().Data(), "export %s=%s\n", session.Variable, shellquote.Join(s.Dir()))
			return err
		},
	}
	cmd.Flags().StringVar(&dir, "directory", "", "create directory `DIR` for it instead of a temporary one")
	return cmd
}

func newSessionReportCommand(e *cli.Env) *cobra.Command {
	remove, detailed := false, false
	output := cli.NewChoice("text", "text", "json")
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Show what the commands of a session did",
		Long: `Show what the commands of a session did.

  ccm session report --remove

Exit status: 4 if a resource failed and did not succeed later.`,
		Args: cli.WantArguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := cli.OpenSession(cmd, e)
			if err == nil && s == nil {
				return diag.At(diag.Pos{}, diag.None("session: %s is not set", session.Variable)).WithHint(`start one with: eval "$(ccm session new)"`)
			}
			if err != nil {
				return err
			}
			r, err := s.Report()
			if err != nil {
				return err
			}
			if err := printSession(e, r, filepath.Base(s.Dir()), output.Value == "json"); err != nil {
				return err
			}
			if remove {
				if err := s.Remove(); err != nil {
					return err
				}
			}
			return sessionStatus(r, detailed)
		},
	}
	fs := cmd.Flags()
	fs.String("session", "", "session `DIR` (default "+session.Variable+")")
	fs.BoolVar(&remove, "remove", false, "remove the session afterwards")
	fs.BoolVar(&detailed, "detailed-exitcodes", false, "exit 0 if nothing changed, 2 on changes, 4 on failures, 6 on both")
	fs.Var(output, "output", "output format: text or json (one object per line)")
	return cmd
}

// sessionStatus returns the exit status, nil for 0.
func sessionStatus(r session.Report, detailed bool) error {
	code := cli.ExitOK
	if r.Failed {
		code = cli.ExitFailed
	}
	if detailed && r.Summary.Of(event.Changed)+r.Summary.Of(event.Pending)+r.Summary.Of(event.Unknown) > 0 {
		code |= cli.ExitChanges
	}
	if code == cli.ExitOK {
		return nil
	}
	return cli.Status(code)
}

// printSession prints the report of a session.
func printSession(e *cli.Env, r session.Report, runID string, asJSON bool) error {
	if asJSON {
		out := bufio.NewWriter(secret.Underneath(e.Stdout))
		enc := json.NewEncoder(secret.NewWriter(out, e.Secrets).JSON(cli.Protocol()))
		enc.SetEscapeHTML(false)
		for _, ev := range r.Events {
			if err := enc.Encode(ev); err != nil {
				return err
			}
		}
		if err := enc.Encode(report.SummaryOf(r.Summary, runID)); err != nil {
			return err
		}
		return out.Flush()
	}
	out := bufio.NewWriter(e.Stdout.Unwrap())
	text := report.Text{W: terminal.NewWriter(out), Color: cli.Colorful(e, e.Stdout), Verbose: true, OneOff: true, Diff: report.DiffOff}
	for _, ev := range r.Events {
		text.Event(report.Restore(ev))
	}
	text.Summary(r.Summary)
	return out.Flush()
}
