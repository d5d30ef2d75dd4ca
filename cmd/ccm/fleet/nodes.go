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
	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/fleet/overview"
	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/where"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/words"
)

func newNodesCommand(e *cli.Env, f *fleetdir.Flags) *cobra.Command {
	condition, environment := "", ""
	live := &liveFlags{}
	output := cli.NewChoice("text", "text", "json", "yaml", "names")
	cmd := &cobra.Command{
		Use:   "nodes [NODE]",
		Short: "List the nodes of a fleet, or show one",
		Long: `List the nodes of a fleet, or show one. Read-only.

  ccm fleet nodes --where 'facts.os.family == "debian" && state.outcome == "failed"'
  ccm fleet nodes --where 'labels.role == "web"' --output names
  ccm fleet nodes web7

Conditions use facts, state, labels, seen, node and environment, in the expression
language of manifests. Conditions without facts are faster, because facts are not read.

The list shows the last report of each node. --live sends a signed job, and shows
current reports of the nodes that respond; the others are named.

Exit status: 4 if a node did not respond to --live.`,
		Args: cli.WantArguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := where.Parse(condition)
			if err != nil {
				return fmt.Errorf("--where: %w", err)
			}
			if len(args) == 1 && (condition != "" || environment != "") {
				return diag.Expected("the name of a node, or --where and --environment")
			}
			least := identity.Viewer
			if live.live {
				least = identity.Operator
			}
			d, err := f.DeskOf(e, least)
			if err != nil {
				return err
			}
			defer d.Cluster.Close()
			if err := checkNodes(cmd.Context(), d, args); err != nil {
				return err
			}
			if environment != "" {
				if environment, err = environmentOf(d.Cluster, environment); err != nil {
					return err
				}
			}
			ctx, cancel := e.Stop.Context(cmd.Context())
			defer cancel()
			o := overview.Options{Environment: environment, Condition: c, Facts: output.Value == "json" || output.Value == "yaml", ConditionOnly: output.Value == "names"}
			switch {
			case live.live:
				return live.askNodes(ctx, e, d, o, args, output.Value)
			case len(args) == 1:
				return printNode(ctx, e, d, args[0], output.Value)
			}
			return listNodes(ctx, e, d, o, output.Value)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&condition, "where", "", "only nodes that match `EXPRESSION`")
	fs.StringVar(&environment, "environment", "", "only nodes of environment `NAME`")
	fs.BoolVar(&live.live, "live", false, "query nodes now, with a signed job")
	cli.DurationVar(fs, &live.timeout, "within", 30*time.Second, "with --live: wait at most `DURATION` for responses")
	live.sign.add(fs)
	fs.Var(output, "output", "output format: text, json, yaml or names")
	cli.CompleteFlag(e, cmd, "environment", f.CompleteEnvironments(e))
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return f.CompleteNodes(e)(cmd, args, text)
	}
	return cmd
}

// nodeLine is a node in JSON and YAML.
type nodeLine struct {
	Node           string           `json:"node"`
	Environment    string           `json:"environment"`
	Status         string           `json:"status"`
	LastSeen       *time.Time       `json:"seen"`
	Fingerprint    string           `json:"fingerprint"`
	Recipient      string           `json:"recipient,omitempty"`
	Tags           []string         `json:"tags,omitempty"`
	State          *record.State    `json:"state"`
	Presence       *record.Presence `json:"presence"`
	Facts          map[string]any   `json:"facts,omitempty"`
	TruncatedFacts []string         `json:"facts_truncated,omitempty"`
	Problems       []string         `json:"damaged,omitempty"`
}

func lineOf(n *overview.Node, now time.Time) nodeLine {
	l := nodeLine{Node: n.Name, Environment: n.Environment, Status: n.Status(now), Fingerprint: enrol.Fingerprint(n.Identity.Key, n.Identity.Recipient),
		Recipient: n.Identity.Recipient, Tags: n.Identity.Tags, State: n.State, Presence: n.Presence}
	if !n.HeartbeatTime.IsZero() {
		l.LastSeen = &n.HeartbeatTime
	}
	if n.Facts != nil {
		l.Facts, l.TruncatedFacts = n.Facts.Facts, n.Facts.TruncatedFacts
	}
	for _, err := range n.Problems {
		l.Problems = append(l.Problems, err.Error())
	}
	return l
}

func listNodes(ctx context.Context, e *cli.Env, d *enrol.Desk, o overview.Options, form string) error {
	list, wrong := overview.Nodes(ctx, d, o)
	if wrong != nil && list == nil {
		return wrong
	}
	if err := printNodes(e, list.Nodes, form); err != nil {
		return err
	}
	switch form {
	case "text":
		cli.Say(e, "%d of %s", len(list.Nodes), words.Count(list.Total, "node"))
		sayForeign(e, list.Foreign)
	case "json", "yaml":
		if err := printForeign(e, list.Foreign, form); err != nil {
			return err
		}
	}
	sayLeftOut(e, wrong)
	return nil
}

// sayLeftOut prints that a condition cannot be evaluated for some nodes, with the reason for one of
// them.
func sayLeftOut(e *cli.Env, err error) {
	if err != nil {
		cli.Say(e, "! Skipped nodes for which the condition cannot be evaluated: %s", err)
	}
}

// printNodes prints nodes in a form: text is a table.
func printNodes(e *cli.Env, list []*overview.Node, form string) error {
	now := e.Clock.Now()
	rows := [][]string{{"NODE", "ENV", "SEEN", "RELEASE", "OUTCOME", "LAST RUN", "FAILED"}}
	for _, n := range list {
		switch form {
		case "names":
			terminal.Fprintf(e.Stdout, "%s\n", n.Name)
		case "json":
			if err := e.Print().Line(lineOf(n, now)); err != nil {
				return err
			}
		case "yaml":
			terminal.Fprintf(e.Stdout, "---\n")
			if err := e.Print().YAML(lineOf(n, now)); err != nil {
				return err
			}
		default:
			rows = append(rows, nodeRow(n, now))
		}
	}
	if len(rows) > 1 {
		e.Print().Table(rows)
	}
	return nil
}

// notInFleet is the status of a node that none of the keys signed which fleet.json names.
const notInFleet = "not_in_fleet"

// sayForeign names the nodes of which nothing else is known.
func sayForeign(e *cli.Env, list []enrol.ForeignNode) {
	if len(list) > 0 {
		cli.Say(e, "%s", foreignText(list))
		cli.Say(e, "  %s", fleetdir.ForeignHint)
	}
}

func foreignText(list []enrol.ForeignNode) string {
	var names []string
	for _, f := range list {
		names = append(names, f.Node)
	}
	return fmt.Sprintf("! Signed by a key that is not in fleet.json: %s: %s", words.Count(len(list), "node"), someOf(names))
}

// printForeign prints foreign nodes for programs.
func printForeign(e *cli.Env, list []enrol.ForeignNode, form string) error {
	for _, f := range list {
		line := struct {
			enrol.ForeignNode
			Status string `json:"status"`
		}{f, notInFleet}
		if form == "json" {
			if err := e.Print().Line(line); err != nil {
				return err
			}
			continue
		}
		terminal.Fprintf(e.Stdout, "---\n")
		if err := e.Print().YAML(line); err != nil {
			return err
		}
	}
	return nil
}

// nodeRow is a node in a table.
func nodeRow(n *overview.Node, now time.Time) []string {
	seen, number, outcome, last := "never", "-", n.Outcome(), "-"
	if !n.HeartbeatTime.IsZero() {
		if seen = ago(now.Sub(n.HeartbeatTime)); n.Silent(now) {
			seen += "!"
		}
	}
	if s := n.State; s != nil {
		if s.Release > 0 {
			number = fmt.Sprint(s.Release)
		}
		if !s.StartTime.IsZero() {
			last = s.StartTime.Local().Format("2006-01-02 15:04")
		}
		if s.Noop {
			outcome += " (noop)"
		}
	}
	notes := n.Trouble()
	if n.Skewed() {
		notes = strings.TrimLeft(notes+"  clock "+time.Duration(n.State.Skew*float64(time.Second)).Round(time.Minute).String(), " ")
	}
	return []string{n.Name, n.Environment, seen, number, outcome, last, notes}
}

func printNode(ctx context.Context, e *cli.Env, d *enrol.Desk, name, form string) error {
	n, err := overview.One(ctx, d, name)
	if err != nil {
		return err
	}
	return printOne(e, n, form)
}

// printOne prints all of a node in a form: text is YAML.
func printOne(e *cli.Env, n *overview.Node, form string) error {
	switch form {
	case "names":
		terminal.Fprintf(e.Stdout, "%s\n", n.Name)
		return nil
	case "json":
		return e.Print().JSON(lineOf(n, e.Clock.Now()))
	}
	return e.Print().YAML(lineOf(n, e.Clock.Now()))
}
