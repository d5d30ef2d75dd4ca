package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/fleet/agent"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/words"
)

func newStatusCommand(e *cli.Env, f *agentFlags) *cobra.Command {
	output := cli.NewChoice("text", "text", "json")
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the agent's sources, last outcomes and next run",
		Long: `Show what the agent on this machine runs, the last outcomes, and the next run.
Read-only.

Exit status: 0 if everything is fine; 4 if a run or health check failed, a source
cannot be fetched, or the fleet connection has a problem; 1 if no agent is running.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			c, unreadable := f.readConfig(e)
			if unreadable != nil {
				c = &agent.Config{CacheDir: agent.DefaultCacheDir()}
			}
			s, err := agent.ReadStatus(c.CacheDir)
			if unreadable != nil {
				if err != nil || f.config != "" && f.config != s.Config {
					return unreadable
				}
				s.ConfigError = unreadable.Error() // the agent goes on with the old configuration
			}
			if s == nil {
				if errors.Is(err, agent.ErrNotRunning) {
					return diag.Errorf(diag.Pos{}, "%w, and no agent has ever run with %s", err, c.File).WithHint("systemctl enable --now ccm-agent")
				}
				return err
			}
			if output.Value == "json" {
				text, jsonErr := json.MarshalIndent(s, "", "  ")
				if jsonErr != nil {
					return jsonErr
				}
				terminal.Fprintf(e.Stdout, "%s\n", terminal.LinesText(string(text)))
			} else {
				printAgentStatus(e, s)
			}
			switch {
			case errors.Is(err, agent.ErrNotRunning):
				return cli.Status(cli.ExitUsage)
			case !s.OK():
				return cli.Status(cli.ExitFailed)
			}
			return nil
		},
	}
	cmd.Flags().Var(output, "output", "output format: text or json")
	return cmd
}

// printAgentStatus prints a status for people.
func printAgentStatus(e *cli.Env, s *agent.Status) {
	now := e.Clock.Now()
	say := func(format string, args ...any) { terminal.Fprintf(e.Stdout, format+"\n", args...) }
	switch {
	case s.State == "stopped":
		say("No agent is running. Last one: ccm %s, with %s", s.Version, s.Config)
	default:
		say("ccm %s, pid %d, with %s, since %s", s.Version, s.PID, s.Config, moment(s.Since, now))
	}
	if s.Noop {
		say("noop: runs show changes without making them")
	}
	if s.ConfigError != "" {
		say("x new configuration rejected: %s", s.ConfigError)
	}
	switch {
	case s.ActiveRun != nil && s.State != "stopped":
		say("%s of %s since %s, because %s", string(s.ActiveRun.Mode), s.ActiveRun.Source, moment(s.ActiveRun.Began, now), s.ActiveRun.Reason)
	case s.NextRun != nil:
		say("next run %s", moment(*s.NextRun, now))
	}
	if s.NextCheck != nil {
		say("next health check %s", moment(*s.NextCheck, now))
	}
	if d := s.Data; d != nil {
		say("\ndata %s", d.URL)
		if d.Error != "" {
			say("  x %s", d.Error)
		}
		if d.Stale != nil {
			say("  stale since %s: runs use the last good data", moment(*d.Stale, now))
		}
	}
	if u := s.Unmanaged; u != nil {
		say("\nnot described by any source, %s: %d", moment(u.Listed, now), u.Count)
		if u.Error != "" {
			say("  x %s", u.Error)
		}
		for _, item := range u.Items {
			say("  %s", item)
		}
		if more := u.Count - len(u.Items); more > 0 {
			say("  %d more (ccm import machine --against SITE)", more)
		}
	}
	if s.Fleet != nil {
		printAgentFleet(say, s.Fleet, now)
	}
	for _, x := range s.Sources {
		printAgentSource(say, &x, now)
	}
}

// printAgentFleet prints the status of the machine in its fleet.
func printAgentFleet(say func(string, ...any), f *agent.FleetStatus, now time.Time) {
	connected := "connected"
	if !f.Connected {
		connected = "not connected"
	}
	release := "no release yet"
	if f.Release > 0 {
		release = fmt.Sprintf("release %d", f.Release)
	}
	say("\nfleet: node %s of %s, %s, %s", f.Node, f.Environment, release, connected)
	if f.RevokedAt != nil {
		say("  x servers have rejected this node since %s", moment(*f.RevokedAt, now))
		switch {
		case f.PlansFrom == nil:
		case now.After(*f.PlansFrom):
			say("    plans only since %s (revoked_after)", moment(*f.PlansFrom, now))
		default:
			say("    keeps running its last release until %s, then only plans (revoked_after)", moment(*f.PlansFrom, now))
		}
	}
	if f.LeaveReason != "" {
		say("  x left the fleet, plans only until the agent restarts (strict_identity): %s", f.LeaveReason)
	}
	for _, p := range f.Problems {
		say("  x %s: %s (since %s)", p.Code, p.Message, moment(p.Since, now))
	}
}

func printAgentSource(say func(string, ...any), x *agent.SourceStatus, now time.Time) {
	say("\n%s", x.Name)
	switch {
	case x.Digest != "" && x.Signer != "":
		say("  %s, signed by %s", x.Digest, x.Signer)
	case x.Digest != "":
		say("  %s", x.Digest)
	case x.Path == "" && x.Error == "":
		say("  not downloaded yet: requested")
	case x.Path == "":
		say("  not downloaded yet")
	}
	if x.Error != "" {
		since := ""
		if x.FailingSince != nil {
			since = " (since " + moment(*x.FailingSince, now) + ")"
		}
		say("  x %s%s", x.Error, since)
		if x.Digest != "" {
			say("    runs continue with the version above")
		}
	}
	for _, text := range x.Unregistered {
		say("  ! %s", text)
	}
	for _, r := range []*agent.Result{x.LastRun, x.LastCheck} {
		if r == nil {
			continue
		}
		say("  %s %s: %s (%s), because %s", string(r.Mode), moment(r.Began, now), r.Outcome(), r.Duration.Round(time.Millisecond), r.Reason)
		for _, failed := range r.Failures {
			say("    x %s: %s", failed.Resource, failed.Message)
		}
		if r.DataStale != nil {
			say("    with data stale since %s", moment(*r.DataStale, now))
		}
		if r.RunID != "" && !r.OK() {
			say("    ccm history %s", r.RunID)
		}
	}
}

// moment formats a time and its distance from now.
func moment(at, now time.Time) string {
	text := at.Local().Format(time.DateTime)
	d := at.Sub(now).Round(time.Second)
	switch {
	case d > 0:
		return fmt.Sprintf("%s (in %s)", text, plainDuration(d))
	case d < 0:
		return fmt.Sprintf("%s (%s ago)", text, plainDuration(-d))
	}
	return text + " (now)"
}

// plainDuration formats a duration in its two largest units.
func plainDuration(d time.Duration) string {
	if d >= 48*time.Hour {
		return fmt.Sprintf("%dd", int(d.Hours()/24))
	}
	if d >= time.Hour {
		d = d.Round(time.Minute)
	}
	return words.Duration(d)
}
