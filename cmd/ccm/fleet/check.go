package fleet

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/cmd/ccm/cli/fleetdir"
	"github.com/luaccm/ccm/fleet/cluster"
	"github.com/luaccm/ccm/fleet/enrol"
	"github.com/luaccm/ccm/fleet/event"
	"github.com/luaccm/ccm/fleet/overview"
	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/release"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/fleet/subject"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/words"
)

func newCheckCommand(e *cli.Env, f *fleetdir.Flags) *cobra.Command {
	output := cli.NewChoice("text", "text", "json")
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check the servers and nodes of a fleet for problems",
		Long: `Check the servers and nodes of a fleet for problems: servers, streams, replicas, space,
clocks, certificates, stopped rollouts, and problems that nodes report. Read-only.

  ccm fleet check

Without the fleet's keys, everything but the servers is checked.

Exit status: 0 no problems, 4 problems found.`,
		Args: cli.WantArguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := f.Desk(e)
			if err != nil {
				return err
			}
			defer d.Cluster.Close()
			return checkFleet(cmd.Context(), e, d, output.Value)
		},
	}
	cmd.Flags().Var(output, "output", "output format: text or json")
	return cmd
}

func checkFleet(ctx context.Context, e *cli.Env, d *enrol.Desk, form string) error {
	servers, findings, err := d.Cluster.Check(ctx, e.Clock.Now)
	if err != nil {
		return err
	}
	list, err := overview.Nodes(ctx, d, overview.Options{})
	if err != nil {
		findings = append(findings, cluster.Finding{Problem: "nodes: " + err.Error()})
		list, err = &overview.List{}, nil
	}
	if len(list.Foreign) > 0 {
		findings = append(findings, cluster.Finding{Problem: strings.TrimPrefix(foreignText(list.Foreign), "! "), Hint: fleetdir.ForeignHint})
	}
	findings = append(findings, nodeFindings(list.Nodes, e.Clock.Now())...)
	findings = append(findings, rolloutFindings(ctx, d)...)
	findings = append(findings, eventFindings(ctx, d, list.Nodes)...)
	if form == "json" {
		err = e.Print().JSON(map[string]any{"servers": servers, "nodes": list.Total, "findings": findings})
	} else {
		for _, s := range servers {
			terminal.Fprintf(e.Stdout, "server %s  nats-server %s, up %s, %s\n", s.Name, s.Version, ago(s.Now.Sub(s.Start)), words.Count(s.Connections, "connection"))
		}
		if d.Cluster.Directory.CheckOrigin() != nil {
			cli.Say(e, "Servers were not checked: this requires the directory in which the fleet was created.")
		}
		terminal.Fprintf(e.Stdout, "%s\n", words.Count(list.Total, "node"))
		for _, x := range findings {
			terminal.Fprintf(e.Stdout, "! %s\n", x.Problem)
			if x.Hint != "" {
				terminal.Fprintf(e.Stdout, "  %s\n", x.Hint)
			}
		}
		if len(findings) == 0 {
			cli.Say(e, "No problems found.")
		}
	}
	if err == nil && len(findings) > 0 {
		err = cli.Status(cli.ExitFailed)
	}
	return err
}

// eventFindings returns the nodes of which the servers have lost events.
func eventFindings(ctx context.Context, d *enrol.Desk, nodes []*overview.Node) []cluster.Finding {
	issued := make(map[string]string, len(nodes))
	for _, n := range nodes {
		issued[n.Name] = n.Environment
	}
	gaps, err := (&event.Looker{NC: d.Cluster.Conn, JetStream: d.Cluster.JetStream, Environments: issued}).Gaps(ctx)
	if err != nil {
		return []cluster.Finding{{Problem: "events: " + err.Error()}}
	}
	var names []string
	for _, g := range event.Open(gaps) {
		if len(names) == 0 || names[len(names)-1] != g.Node {
			names = append(names, g.Node)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []cluster.Finding{{Problem: subject.Events + " has gaps in the events of: " + someOf(names), Hint: "request the missing events with: ccm fleet events --fill"}}
}

// rolloutFindings returns problems of releases: documents that nodes refuse, and stopped rollouts.
func rolloutFindings(ctx context.Context, d *enrol.Desk) (list []cluster.Finding) {
	for _, name := range d.Cluster.Directory.Fleet.Environments {
		store, err := release.Open(d.Cluster, name, d.Now)
		control := new(release.Control)
		if err == nil {
			control, err = store.Read(ctx)
		}
		if err == nil {
			for _, p := range control.Problems {
				list = append(list, cluster.Finding{Problem: p, Hint: "check whether nodes reject it too; if they do not, " + d.Cluster.Directory.Signers() + " is old"})
			}
		}
		switch {
		case err != nil:
			list = append(list, cluster.Finding{Problem: "releases of " + name + ": " + err.Error()})
		case control.Release != nil && control.Rollout != nil && control.Rollout.Release == control.Release.Version && control.Rollout.State == signed.Stopped:
			list = append(list, cluster.Finding{Problem: fmt.Sprintf("rollout of release %d of %s was stopped: %s", control.Release.Version, name, control.Rollout.Reason),
				Hint: fmt.Sprintf("show details with ccm fleet rollout %s, or go back with ccm fleet rollback %s", name, name)})
		}
	}
	return list
}

// nodeFindings returns the problems that nodes have reported, and nodes that are silent or were never
// heard of.
func nodeFindings(nodes []*overview.Node, now time.Time) []cluster.Finding {
	var unheard, silent, failed, skewed, damaged []string
	problems := map[record.ProblemCode][]string{}
	var codes []record.ProblemCode
	for _, n := range nodes {
		switch n.Status(now) {
		case overview.Unheard:
			unheard = append(unheard, n.Name)
		case overview.Silent:
			silent = append(silent, n.Name)
		}
		if n.Skewed() {
			skewed = append(skewed, n.Name)
		}
		if len(n.Problems) > 0 {
			damaged = append(damaged, n.Name)
		}
		if n.State == nil {
			continue
		}
		if outcome := n.Outcome(); outcome == "failed" || outcome == "interrupted" {
			failed = append(failed, n.Name)
		}
		for _, p := range n.State.Problems {
			if problems[p.Code] == nil {
				codes = append(codes, p.Code)
			}
			problems[p.Code] = append(problems[p.Code], n.Name)
		}
	}
	var list []cluster.Finding
	add := func(names []string, what, hint string) {
		if len(names) > 0 {
			list = append(list, cluster.Finding{Problem: what + ": " + someOf(names), Hint: hint})
		}
	}
	add(unheard, "approved nodes that never connected", "check that their agents run and reach a server")
	add(silent, "silent nodes", "run ccm agent status on the node")
	add(failed, "nodes whose last run failed", "show why with: ccm fleet status")
	add(skewed, "nodes whose clocks are off by more than five minutes", "set their clocks: they refuse jobs that expire soon")
	add(damaged, "nodes that send unreadable data", "check their ccm version, and whether someone else has their key")
	for _, code := range codes {
		add(problems[code], string(code), "show details with: ccm fleet nodes NODE")
	}
	return list
}

// someOf names the first of many.
func someOf(names []string) string {
	const most = 10
	if len(names) <= most {
		return cli.NamesOf(names)
	}
	return cli.NamesOf(names[:most]) + fmt.Sprintf(" and %d more", len(names)-most)
}
