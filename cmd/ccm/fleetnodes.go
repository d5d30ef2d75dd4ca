package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/fleet/enrol"
	"github.com/luaccm/ccm/fleet/overview"
	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/where"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/terminal"
)

func newFleetNodesCommand(e *env, f *fleetFlags) *cobra.Command {
	condition, environment := "", ""
	output := newChoice("text", "text", "json", "yaml", "names")
	cmd := &cobra.Command{
		Use:   "nodes [NODE]",
		Short: "List the nodes of a fleet, or print all of one",
		Long: `List the nodes of a fleet, or print all that is known of one.

  ccm fleet nodes --where 'facts.os.family == "debian" && state.outcome == "failed"'
  ccm fleet nodes --where 'labels.role == "web"' --output names
  ccm fleet nodes web7

A condition is about facts, state, labels, seen, node and environment, in the
language of expressions in manifests. One that does not name facts is answered
faster: they are not read.`,
		Args: wantArguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := f.desk(e)
			if err != nil {
				return err
			}
			defer d.Cluster.Close()
			if len(args) == 1 {
				return printNode(cmd.Context(), e, d, args[0], output.value)
			}
			o := overview.Options{Environment: environment, Facts: output.value == "json" || output.value == "yaml"}
			if o.Condition, err = where.Parse(condition); err != nil {
				return fmt.Errorf("--where: %w", err)
			}
			return listNodes(cmd.Context(), e, d, o, output.value)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&condition, "where", "", "only nodes for which this `EXPRESSION` holds")
	fs.StringVar(&environment, "environment", "", "only nodes of the environment `NAME`")
	fs.Var(output, "output", "how to print them: text, json, yaml or names")
	completeFlag(e, cmd, "environment", f.completeEnvironments(e))
	cmd.ValidArgsFunction = f.completeNodes(e)
	return cmd
}

// nodeLine is a node as JSON and YAML have it.
type nodeLine struct {
	Node        string           `json:"node"`
	Environment string           `json:"environment"`
	Status      string           `json:"status"`
	Seen        *time.Time       `json:"seen"`
	Fingerprint string           `json:"fingerprint"`
	Recipient   string           `json:"recipient,omitempty"`
	Tags        []string         `json:"tags,omitempty"`
	State       *record.State    `json:"state"`
	Presence    *record.Presence `json:"presence"`
	Facts       map[string]any   `json:"facts,omitempty"`
	Truncated   []string         `json:"facts_truncated,omitempty"`
	Damaged     []string         `json:"damaged,omitempty"`
}

func lineOf(n *overview.Node, now time.Time) nodeLine {
	l := nodeLine{Node: n.Name, Environment: n.Environment, Status: n.Status(now), Fingerprint: enrol.Fingerprint(n.Enrolled.Key, n.Enrolled.Recipient),
		Recipient: n.Enrolled.Recipient, Tags: n.Enrolled.Tags, State: n.State, Presence: n.Presence}
	if !n.Seen.IsZero() {
		l.Seen = &n.Seen
	}
	if n.Facts != nil {
		l.Facts, l.Truncated = n.Facts.Facts, n.Facts.Truncated
	}
	for _, err := range n.Damaged {
		l.Damaged = append(l.Damaged, err.Error())
	}
	return l
}

func listNodes(ctx context.Context, e *env, d *enrol.Desk, o overview.Options, form string) error {
	list, total, wrong := overview.Nodes(ctx, d, o)
	if wrong != nil && list == nil {
		return wrong
	}
	now := e.Clock.Now()
	rows := [][]string{{"NODE", "ENV", "SEEN", "RELEASE", "OUTCOME", "LAST RUN", "FAILED"}}
	for _, n := range list {
		switch form {
		case "names":
			terminal.Fprintf(e.stdout, "%s\n", n.Name)
		case "json":
			if err := e.print().line(lineOf(n, now)); err != nil {
				return err
			}
		case "yaml":
			terminal.Fprintf(e.stdout, "---\n")
			if err := e.print().yaml(lineOf(n, now)); err != nil {
				return err
			}
		default:
			rows = append(rows, nodeRow(n, now))
		}
	}
	if form == "text" {
		if len(list) > 0 {
			printTable(e, rows)
		}
		say(e, "%d of %d nodes", len(list), total)
	}
	if wrong != nil {
		say(e, "Nodes are missing, because they do not have what the condition asks for: %s", wrong)
	}
	return nil
}

// nodeRow is a node in a table.
func nodeRow(n *overview.Node, now time.Time) []string {
	seen, number, outcome, last := "never", "-", n.Outcome(), "-"
	if !n.Seen.IsZero() {
		if seen = ago(now.Sub(n.Seen)); n.Silent(now) {
			seen += "!"
		}
	}
	if s := n.State; s != nil {
		if s.Release > 0 {
			number = fmt.Sprint(s.Release)
		}
		if !s.Started.IsZero() {
			last = s.Started.Local().Format("2006-01-02 15:04")
		}
		if s.Noop {
			outcome += " (noop)"
		}
	}
	notes := n.Failure()
	if n.Skewed() {
		notes = strings.TrimLeft(notes+"  clock "+time.Duration(n.State.Skew*float64(time.Second)).Round(time.Minute).String(), " ")
	}
	return []string{n.Name, n.Environment, seen, number, outcome, last, notes}
}

func printNode(ctx context.Context, e *env, d *enrol.Desk, name, form string) error {
	n, err := overview.One(ctx, d, name)
	if errors.Is(err, overview.ErrNoNode) {
		return diag.Errorf(diag.Pos{}, "%s: %w", name, err).WithHint("ccm fleet nodes --output names lists them")
	}
	if err != nil {
		return err
	}
	switch form {
	case "names":
		terminal.Fprintf(e.stdout, "%s\n", n.Name)
		return nil
	case "json":
		return e.print().json(lineOf(n, e.Clock.Now()))
	}
	return e.print().yaml(lineOf(n, e.Clock.Now()))
}
