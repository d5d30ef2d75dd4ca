package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/session"
	"github.com/luaccm/ccm/site"
)

// oneOffFlags are the flags of commands that bring one resource in order.
type oneOffFlags struct {
	runFlags
}

// add adds the flags to cmd and to all commands below it.
func (f *oneOffFlags) add(cmd *cobra.Command) {
	fs := cmd.PersistentFlags()
	fs.SortFlags = false
	fs.BoolVarP(&f.noop, "noop", "n", false, "show what would change, without changing anything")
	fs.BoolVar(&f.noop, "dry-run", false, "same as --noop")
	fs.Lookup("dry-run").Hidden = true
	f.output = cli.NewChoice("text", "text", "json")
	f.diff = cli.NewChoice(string(report.DiffSummary), report.DiffSummary.Values()...)
	fs.Var(f.output, "output", "output format: text or json")
	fs.Var(f.diff, "diff", diffUsage)
	fs.BoolVar(&f.detailed, "detailed-exitcodes", false, "exit 0 if nothing changed, 2 on a change, 4 on a failure, 6 on both")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "only show failures")
	fs.String("session", "", "use the session in `DIR` (default "+session.Variable+")")
	cli.AddDataFlags(fs, &f.Data)
	fs.StringArrayVar(&f.Facts.Assignments, "fact", nil, "set fact `NAME=VALUE` (repeatable)")
	fs.StringVar(&f.Facts.File, "facts", "", "read additional facts from `FILE` (JSON or YAML)")
	fs.StringVar(&f.Root, "root", "/", "use `DIR` as the root directory")
	fs.StringVar(&f.StateDir, "state-dir", "", "`DIR` for history and backups; none: no records (default /var/lib/ccm)")
	cli.DurationVar(fs, &f.LockTimeout, "lock-timeout", time.Minute, "maximum time to wait for another run")
	cli.AddSudoFlag(fs)
	fs.BoolVar(&f.debug, "debug", false, "log each file written and each command run")
}

// newOneOff returns a site.OneOff, which converges the resources of a command one by one. Kind is
// the kind of these runs in the history.
func newOneOff(e *cli.Env, cmd *cobra.Command, f *oneOffFlags, kind string, h site.HostOptions, s *session.Session) (*site.OneOff, error) {
	f.EvalTimeout = time.Minute
	return e.NewOneOff(cmd.Context(), site.OneOffOptions{
		Kind: kind, Site: &f.Options, Record: f.RecordFlags.RecordOptions(&f.Options), Host: h, Plan: f.noop, Diff: report.DiffMode(f.diff.Value), Session: s,
	})
}

// resultStatus returns the exit status of one resource.
func resultStatus(r *site.Result, detailed bool) cli.Status {
	code, _ := exitStatus(r.Summary, detailed).(cli.Status)
	if (r.Unmet() || r.Incomplete) && !r.Interrupted {
		code |= cli.ExitFailed
	}
	return code
}
