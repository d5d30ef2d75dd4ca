package fleet

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/cmd/ccm/cli/fleetdir"
	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/release"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/words"
)

// rolloutFlags are the flags of commands about a rollout.
type rolloutFlags struct {
	*fleetdir.Flags
	sign     signFlags
	watch    bool
	lookOnly bool
	reason   string
	output   *cli.Choice
}

func newRolloutCommand(e *cli.Env, fleet *fleetdir.Flags) *cobra.Command {
	f := &rolloutFlags{Flags: fleet, output: cli.NewChoice("text", "text", "json")}
	cmd := &cobra.Command{
		Use:   "rollout [next|pause|resume|abort] ENVIRONMENT",
		Short: "Show, advance, pause or abort a rollout",
		Long: `Show rollout progress of an environment, or change the rollout.

  ccm fleet rollout prod
  ccm fleet rollout prod --watch
  ccm fleet rollout pause prod --reason "errors in nginx"

  next     start the next stage now, whatever the outcome of the present one
  pause    start no further nodes; nodes that have started finish
  resume   go on after a pause, or after failures stopped the rollout; failed nodes
           count until they succeed
  abort    end the rollout for good; nodes that have the release keep it, and
           ccm fleet rollback reverts them

--watch follows the rollout until it ends, and starts each next stage. This requires a
key that may sign for ccm-rollout. Without anybody watching, the rollout stays at its
stage. Several people can watch at once.

Exit status: 4 if the rollout was stopped or aborted.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 && !slices.Contains(operations, args[0]) {
				return diag.At(diag.Pos{}, diag.Unknown("operation", args[0], operations)).WithHint("ccm fleet %s", cmd.Use)
			}
			return cli.WantArguments(1, 2)(cmd, args)
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 && slices.Contains(operations, args[0]) {
				args = args[1:]
			}
			return fleet.CompleteEnvironment(e, cobra.ShellCompDirectiveNoFileComp)(cmd, args, text)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := e.Stop.Context(cmd.Context())
			defer cancel()
			if len(args) == 2 {
				return f.operate(ctx, e, args[0], args[1])
			}
			return f.show(ctx, e, args[0])
		},
	}
	f.sign.add(cmd.Flags())
	cmd.Flags().StringVar(&f.reason, "reason", "", "reason of next, pause, resume or abort, as `TEXT`")
	cmd.Flags().BoolVar(&f.watch, "watch", false, "follow the rollout until it ends, and advance it")
	cmd.Flags().BoolVar(&f.lookOnly, "look-only", false, "with --watch: do not advance")
	cmd.Flags().Var(f.output, "output", "output format: text or json (one object per line)")
	return cmd
}

// operations change a rollout by hand.
var operations = []string{string(release.Next), string(release.Pause), string(release.Resume), string(release.Abort)}

// operate changes a rollout by hand.
func (f *rolloutFlags) operate(ctx context.Context, e *cli.Env, operation, environment string) error {
	return withController(e, f.Flags, environment, identity.Operator, &f.sign, func(c *release.Controller) error {
		sayUnknownSigners(e, c)
		a, err := c.Do(ctx, release.Operation(operation), f.reason)
		if err != nil {
			return err
		}
		return f.print(e, a)
	})
}

// newOperationCommands returns the former commands for operations.
func newOperationCommands(e *cli.Env, fleet *fleetdir.Flags) (list []*cobra.Command) {
	for _, operation := range operations {
		cmd := newRolloutCommand(e, fleet)
		run := cmd.RunE
		cmd.Use, cmd.Args, cmd.ValidArgsFunction = "rollout ENVIRONMENT", cli.WantArguments(1, 1), fleet.CompleteEnvironment(e, cobra.ShellCompDirectiveNoFileComp)
		cmd.RunE = func(cmd *cobra.Command, args []string) error { return run(cmd, append([]string{operation}, args...)) }
		list = append(list, cli.Former(e, cmd, operation, "ccm fleet rollout "+operation))
	}
	return list
}

func newRollbackCommand(e *cli.Env, fleet *fleetdir.Flags) *cobra.Command {
	f := &rolloutFlags{Flags: fleet, output: cli.NewChoice("text", "text", "json")}
	var also []string
	cmd := &cobra.Command{
		Use:   "rollback ENVIRONMENT",
		Short: "Roll back to the previous bundle",
		Long: `Roll back to the previous bundle. This is a new release with a higher version: nodes
never go back a version. Nodes that have the present release are its first stage.

  ccm fleet rollback prod --reason "errors in nginx"

Releases that nodes never ran successfully are skipped. A second rollback goes to an
older release, never to one that was rolled back.`,
		Args:              cli.WantArguments(1, 1),
		ValidArgsFunction: fleet.CompleteEnvironment(e, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := e.Stop.Context(cmd.Context())
			defer cancel()
			return withController(e, f.Flags, args[0], identity.Operator, &f.sign, func(c *release.Controller) error {
				sayUnknownSigners(e, c)
				r, err := c.Back(ctx)
				if err != nil {
					return err
				}
				if f.reason != "" {
					r.Reason = f.reason
				}
				if err := sayTooFew(ctx, e, c, also); err != nil {
					return err
				}
				before, err := c.Store.Read(ctx)
				if err != nil {
					return err
				}
				if err := c.BeginRollback(ctx, r, others(e, also)...); err != nil {
					return err
				}
				if err := printRelease(e, f.output.Value, args[0], r, before.Release, nil); err != nil {
					return err
				}
				if !f.watch && f.output.Value == "json" {
					return nil
				}
				if !f.watch {
					cli.Say(e, "Continue with: ccm fleet rollout %s --watch", args[0])
					return nil
				}
				return f.follow(ctx, e, c)
			})
		},
	}
	f.sign.add(cmd.Flags())
	alsoSign(cmd.Flags(), &also)
	cmd.Flags().StringVar(&f.reason, "reason", "", "record `TEXT` as the reason")
	cmd.Flags().BoolVar(&f.watch, "watch", false, "follow the rollout until it ends, and advance it")
	cmd.Flags().Var(f.output, "output", "output format: text or json")
	return cmd
}

// show prints how far a rollout is, once or, with --watch, until its end.
func (f *rolloutFlags) show(ctx context.Context, e *cli.Env, environment string) error {
	least := identity.Viewer
	if f.watch && !f.lookOnly {
		least = identity.Operator
	}
	return withController(e, f.Flags, environment, least, &f.sign, func(c *release.Controller) error {
		if f.watch {
			if !f.lookOnly {
				sayUnknownSigners(e, c)
			}
			return f.follow(ctx, e, c)
		}
		_, a, err := c.Look(ctx)
		if err != nil {
			return err
		}
		if err := f.print(e, a); err != nil {
			return err
		}
		return stoppedStatus(a)
	})
}

// watchInterval is the time between two looks at a rollout, and watchPatience the time for which the
// servers may leave looks unanswered.
const (
	watchInterval = 2 * time.Second
	watchPatience = 5 * time.Minute
)

// follow prints the changes of a rollout and, unless --look-only, moves it on, until the rollout is
// done, stopped or aborted.
func (f *rolloutFlags) follow(ctx context.Context, e *cli.Env, c *release.Controller) error {
	last, shown := (*release.Assessment)(nil), ""
	var silentSince time.Time // since when the servers do not answer
	// held is the time before which the rollout is not moved on, after the servers were away: they may
	// have lost heartbeats, and a rollout must not stop because all nodes seem silent.
	var held time.Time
	for {
		var a *release.Assessment
		var err error
		if f.lookOnly || e.Clock.Now().Before(held) {
			_, a, err = c.Look(ctx)
		} else {
			a, err = c.Step(ctx)
		}
		switch {
		case err == nil:
			silentSince = time.Time{}
		case !direct.IsPassing(err), !silentSince.IsZero() && e.Clock.Now().Sub(silentSince) > watchPatience:
			return err
		default:
			held = e.Clock.Now().Add(record.Heartbeat)
			if silentSince.IsZero() {
				silentSince = e.Clock.Now()
				cli.Say(e, "Servers are not responding, retrying: %s", err)
			}
			if err := pauseBetweenLooks(ctx); err != nil {
				return err
			}
			continue
		}
		if e.Clock.Now().Before(held) {
			if silent(a) <= silent(last) {
				held = time.Time{}
			}
			if err := pauseBetweenLooks(ctx); err != nil {
				return err
			}
			continue
		}
		if text := rolloutText(a); text != shown || f.output.Value == "json" && !reflect.DeepEqual(last, a) {
			if err := f.print(e, a); err != nil {
				return err
			}
			last, shown = a, text
		}
		if a.Verdict == release.Rest && a.State != signed.Paused {
			return stoppedStatus(a)
		}
		if err := pauseBetweenLooks(ctx); err != nil {
			return err
		}
	}
}

// pauseBetweenLooks waits, unless the command is interrupted.
func pauseBetweenLooks(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return cli.Status(cli.ExitInterrupted)
	case <-time.After(watchInterval):
		return nil
	}
}

// silent returns the number of nodes of a rollout that are not there: the servers may have lost the
// heartbeats, or all data of nodes.
func silent(a *release.Assessment) (n int) {
	if a == nil {
		return 0
	}
	for _, s := range a.Stages {
		n += s.Silent + s.Unheard
	}
	return n
}

// stoppedStatus is the exit status of a rollout that did not go well.
func stoppedStatus(a *release.Assessment) error {
	if a.State == signed.Stopped || a.State == signed.Aborted {
		return cli.Status(cli.ExitFailed)
	}
	return nil
}

// print prints an assessment.
func (f *rolloutFlags) print(e *cli.Env, a *release.Assessment) error {
	if f.output.Value == "json" {
		if err := e.Print().Line(a); err != nil {
			return err
		}
		return e.Stdout.Flush()
	}
	terminal.Fprintf(e.Stdout, "%s", terminal.LinesText(rolloutText(a)))
	return e.Stdout.Flush()
}

// rolloutText describes a rollout. It makes texts of nodes safe for terminals.
func rolloutText(a *release.Assessment) string {
	var b strings.Builder
	terminal.Fprintf(&b, "Release %d of %s, bundle %s: %s\n", a.Release, a.Environment, shortDigest(a.Bundle), stateWords(a))
	rows := [][]string{{"STAGE", "NODES", "DONE", "CHANGED", "FAILED", "SILENT", "WAITING", ""}}
	for i, s := range a.Stages {
		n := strconv.Itoa
		rows = append(rows, []string{s.Name, n(s.Nodes), n(s.Done), n(s.Changed), n(s.Failed), n(s.Silent), n(s.Waiting), stageWords(a, i)})
	}
	for _, line := range cli.TableLines(rows) {
		b.WriteString(line + "\n")
	}
	for _, c := range a.Causes {
		terminal.Fprintf(&b, "  %s  %d  %s  (%s)\n", terminal.Line(c.Resource), len(c.Nodes), terminal.Line(words.FirstLine(c.Message)), terminal.Line(someNames(c.Nodes)))
	}
	for _, p := range a.Problems {
		terminal.Fprintf(&b, "! %s\n", terminal.Line(p))
	}
	for _, s := range a.Stages[:min(a.Stage+1, len(a.Stages))] {
		if len(s.SilentNodes) > 0 {
			terminal.Fprintf(&b, "  silent  %d  (%s)\n", len(s.SilentNodes), terminal.Line(someNames(s.SilentNodes)))
		}
	}
	if names := a.Unheard(); len(names) > 0 {
		wait := "; ignored"
		if a.WaitsForUnheard() {
			wait = ""
		}
		terminal.Fprintf(&b, "  never reported  %d  (%s)%s\n", len(names), terminal.Line(someNames(names)), wait)
	}
	return b.String()
}

// someNames lists the first names, and the number of the others.
func someNames(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, " ")
	}
	return fmt.Sprintf("%s ... %d more", strings.Join(names[:most], " "), len(names)-most)
}

func stateWords(a *release.Assessment) string {
	if a.Reason != "" {
		return string(a.State) + ": " + terminal.Line(a.Reason)
	}
	return string(a.State)
}

// stageWords describes the state of a stage.
func stageWords(a *release.Assessment, i int) string {
	switch {
	case i < a.Stage || a.State == signed.Done:
		return "ok"
	case i > a.Stage:
		return ""
	case a.State != signed.Rolling:
		return stateWords(a)
	case a.Verdict == release.Soak:
		return "soaks until " + a.SoakUntil.Local().Format("15:04:05")
	case a.Verdict == release.Wait:
		return "waits for its nodes"
	}
	return ""
}
