package fleet

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/cmd/ccm/cli/fleetdir"
	"github.com/luaccm/ccm/fleet/enrol"
	"github.com/luaccm/ccm/fleet/event"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/words"
)

// eventFlags are the flags of fleet events.
type eventFlags struct {
	*fleetdir.Flags
	sign                   signFlags
	follow, fill           bool
	environment, condition string
	since                  time.Duration
	output                 *cli.Choice
}

func newEventsCommand(e *cli.Env, fleet *fleetdir.Flags) *cobra.Command {
	f := &eventFlags{Flags: fleet, output: cli.NewChoice("text", "text", "json")}
	cmd := &cobra.Command{
		Use:   "events [NODE...]",
		Short: "Print events of nodes",
		Long: `Print events of nodes: their runs and jobs. Read-only without --fill.

  ccm fleet events -f --where 'outcome == "failed"'
  ccm fleet events --fill web7

With --output json, events are the lines of ccm run --output json, with the node.
Resources that are up to date send no events. Events are kept for 7 days, and the last
5,000 of each node.

Servers restored from an older copy lack newer events. --fill finds such gaps, of some
nodes or all, and has nodes send their recorded events again. Plans and results of jobs
are not recorded by nodes and remain lost.

Exit status: 4 if a gap could not be filled.`,
		ValidArgsFunction: fleet.CompleteNodes(e),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := e.Stop.Context(cmd.Context())
			defer cancel()
			if f.fill {
				return f.fillGaps(ctx, e, args)
			}
			return f.print(ctx, e, args)
		},
	}
	fs := cmd.Flags()
	fs.BoolVarP(&f.follow, "follow", "f", false, "follow new events until Ctrl-C")
	fs.BoolVar(&f.fill, "fill", false, "request events that the servers lost, with a signed job")
	f.sign.add(fs)
	fs.StringVar(&f.environment, "environment", "", "only nodes of `ENVIRONMENT`")
	fs.StringVar(&f.condition, "where", "", "only events that match `CONDITION`, as outcome == \"failed\"")
	cli.DurationVar(fs, &f.since, "since", time.Hour, "only events of the last `TIME`")
	fs.Var(f.output, "output", "output format: text or json (one object per line)")
	cli.CompleteFlag(e, cmd, "environment", fleet.CompleteEnvironments(e))
	for _, other := range []string{"follow", "where", "since"} {
		cmd.MarkFlagsMutuallyExclusive("fill", other)
	}
	return cmd
}

func (f *eventFlags) print(ctx context.Context, e *cli.Env, nodes []string) error {
	filter := event.Filter{Environment: f.environment, Nodes: nodes, Since: e.Clock.Now().Add(-f.since)}
	if f.condition != "" {
		c, err := event.ParseCondition(f.condition)
		if err != nil {
			return fmt.Errorf("--where: %w", err)
		}
		filter.Condition = c
	}
	d, err := f.Desk(e)
	if err != nil {
		return err
	}
	c := d.Cluster
	defer c.Close()
	if err := f.check(ctx, d, nodes); err != nil {
		return err
	}
	show := func(l *event.Line) error {
		text := string(l.Text)
		if f.output.Value == "text" {
			text = eventText(l)
		}
		terminal.Fprintf(e.Stdout, "%s\n", terminal.Line(text))
		if !f.follow {
			return nil
		}
		return e.Stdout.Flush()
	}
	if f.follow {
		return event.Follow(ctx, c.Conn, filter, show)
	}
	return event.Read(ctx, c.Conn, filter, show)
}

// check returns an error for a node or an environment that there is not.
func (f *eventFlags) check(ctx context.Context, d *enrol.Desk, nodes []string) error {
	if f.environment != "" {
		if _, err := environmentOf(d.Cluster, f.environment); err != nil {
			return err
		}
	}
	return checkNames(ctx, d, nodes, !f.fill)
}

// eventText formats a message of a node as a line.
func eventText(l *event.Line) string {
	text := func(name string) string {
		s, _ := l.Fields[name].(string)
		return words.FirstLine(s)
	}
	when := text("timestamp")
	if when == "" {
		when = text("start_time")
	}
	if t, err := time.Parse(time.RFC3339Nano, when); err == nil {
		when = t.Local().Format("2006-01-02 15:04:05")
	}
	var what string
	switch text("protocol") {
	case "io.choria.ccm.v1.transaction.event":
		what = text("outcome") + "  " + text("type") + "#" + text("name")
		for _, more := range []string{"message", "noop_message"} {
			if text(more) != "" {
				what += ": " + text(more)
			}
		}
		if list, ok := l.Fields["errors"].([]any); ok && len(list) > 0 {
			what += ": " + words.FirstLine(fmt.Sprint(list[0]))
		}
	case "io.choria.ccm.v1.session.summary":
		total, _ := l.Fields["total_resources"].(float64)
		what = fmt.Sprintf("run %s: %s, %v changed, %v failed", text("run_id"), words.Count(int(total), "resource"), l.Fields["changed_resources"], l.Fields["failed_resources"])
	case "io.choria.ccm.v1.job.result":
		what = strings.TrimSpace("job " + text("job") + ": " + text("state") + " " + text("outcome") + " " + text("message"))
	default:
		what = text("protocol")
	}
	return when + "  " + l.Node + "  " + what
}
