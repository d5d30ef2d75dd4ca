package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/cmd/ccm/cli/fleetdir"
	"github.com/luaccm/ccm/fleet/cluster"
	"github.com/luaccm/ccm/fleet/enrol"
	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/fleet/job"
	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/roster"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/fleet/where"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/words"
)

// jobFlags are the flags of commands that send a job.
type jobFlags struct {
	*fleetdir.Flags
	sign                   signFlags
	environment, condition string
	all, monitorOnly       bool
	atMost                 int
	expires                time.Duration
	reason                 string
	targets                []string
	output                 *cli.Choice
}

// jobVerbs are the commands that send a job.
var jobVerbs = []struct {
	verb        signed.Verb
	short, long string
}{
	{signed.VerbRun, "Start a run on nodes now", `
Nodes are named, or


Name the nodes, or select those that have reported with --where. The job lists the
nodes or their digest, so ccm knows which did not respond. It is repeated to these
after 5, 20 and 60 seconds. --output names prints the nodes that did not respond or did
not succeed.

Exit status: 4 if a node failed, refused, or did not respond.`},
	{signed.VerbPlan, "Plan on nodes: show what a run would change", "Plan on nodes: show what a run would change. Read-only. The plans are events: see\nccm fleet events."},
	{signed.VerbCancel, "Stop the current run of nodes", "Stop the current run of nodes after the current resource, like Ctrl-C."},
	{signed.VerbFacts, "Refresh the facts of nodes", "Refresh the facts of nodes."},
}

func newJobCommands(e *cli.Env, fleet *fleetdir.Flags) (list []*cobra.Command) {
	for _, v := range jobVerbs {
		f := &jobFlags{Flags: fleet, output: cli.NewChoice("text", "text", "json", "names")}
		cmd := &cobra.Command{
			Use: string(v.verb) + " [NODE...]", Short: v.short,
			Long: v.long + `

Name the nodes, or select those that have reported with --where. The job lists the
nodes or their digest, so ccm knows which did not respond. It is repeated to these
after 5, 20 and 60 seconds. --output names prints the nodes that did not respond or did
not succeed.

Exit status: 4 if a node failed, refused, or did not respond.`,
			ValidArgsFunction: fleet.CompleteNodes(e),
			RunE: func(cmd *cobra.Command, args []string) error {
				ctx, cancel := e.Stop.Context(cmd.Context())
				defer cancel()
				j := &signed.Job{Verb: v.verb, AtMost: f.atMost, Targets: f.targets, MonitorOnly: f.monitorOnly, Reason: f.reason}
				return f.send(ctx, e, j, args)
			},
		}
		fs := cmd.Flags()
		f.sign.add(fs)
		fs.StringVar(&f.environment, "environment", "", "select `ENVIRONMENT` (default: the nodes' or the only one)")
		fs.StringVar(&f.condition, "where", "", "nodes that match `CONDITION`")
		fs.BoolVar(&f.all, "all", false, "all nodes of the environment")
		cli.DurationVar(fs, &f.expires, "expires", 15*time.Minute, "latest start, `DURATION` from now (plus 5m for clock skew)")
		fs.StringVar(&f.reason, "reason", "", "reason stored with the job, as `TEXT`")
		fs.Var(f.output, "output", "output format: text, json, or names of nodes that did not succeed")
		cli.CompleteFlag(e, cmd, "environment", fleet.CompleteEnvironments(e))
		if v.verb == signed.VerbRun || v.verb == signed.VerbPlan {
			fs.IntVar(&f.atMost, "at-most", 0, "maximum `NUMBER` of nodes at a time (default: all)")
			fs.StringArrayVar(&f.targets, "target", nil, "only resource `TYPE#NAME` and its requirements (repeatable)")
		}
		if v.verb == signed.VerbRun {
			fs.BoolVar(&f.monitorOnly, "monitor-only", false, "only run health checks")
		}
		list = append(list, cmd)
	}
	return list
}

// environmentOf returns the environment that was named, or the only one.
func environmentOf(c *cluster.Cluster, named string) (string, error) {
	return environmentIn(c.Directory, named)
}

// environmentIn is environmentOf without a connection.
func environmentIn(d *identity.Directory, named string) (string, error) {
	list := d.Fleet.Environments
	switch {
	case named == "" && len(list) == 1:
		return list[0], nil
	case named == "":
		return "", diag.At(diag.Pos{}, diag.Expected("an environment: %s", strings.Join(list, ", "))).WithHint("select one with --environment NAME")
	case !d.Fleet.HasEnvironment(named):
		return "", diag.At(diag.Pos{}, diag.NotFound("environment", named, nil)).WithHint("environments: %s", strings.Join(list, ", "))
	}
	return named, nil
}

// environmentOf returns the environment of a job: without a flag for it, the environment of the
// named nodes.
func (f *jobFlags) environmentOf(ctx context.Context, e *cli.Env, c *cluster.Cluster, nodes []string) (string, error) {
	if f.environment != "" || len(nodes) == 0 {
		return environmentOf(c, f.environment)
	}
	d := &enrol.Desk{Cluster: c, Now: e.Clock.Now}
	if err := checkNodes(ctx, d, nodes); err != nil {
		return "", err
	}
	issued, err := d.Environments(ctx)
	if err != nil {
		return "", err
	}
	for _, name := range nodes[1:] {
		if issued[name] != issued[nodes[0]] {
			return "", diag.SubjectCannot("a job", "span environments: %s belongs to %s, and %s to %s", nodes[0], issued[nodes[0]], name, issued[name])
		}
	}
	return issued[nodes[0]], nil
}

// choose returns the names of the nodes that are meant.
func (f *jobFlags) choose(ctx context.Context, e *cli.Env, c *cluster.Cluster, environment string, args []string) (names []string, total int, err error) {
	switch given := len(args) > 0; {
	case given && (f.condition != "" || f.all), f.condition != "" && f.all:
		return nil, 0, diag.Expected("exactly one of names, --where and --all")
	case !given && f.condition == "" && !f.all:
		return nil, 0, diag.At(diag.Pos{}, diag.Expected("the names of nodes, or a condition")).WithHint("--all means all nodes of the environment")
	}
	condition, err := where.Parse(f.condition)
	if err != nil {
		return nil, 0, fmt.Errorf("--where: %w", err)
	}
	issued, err := (&enrol.Desk{Cluster: c, Now: e.Clock.Now}).Environments(ctx)
	if err != nil {
		return nil, 0, err
	}
	nodes, err := roster.Read(ctx, c.Conn, roster.Options{Environments: issued, Environment: environment, Facts: condition.Facts()})
	if err != nil {
		return nil, 0, err
	}
	known := make(map[string]bool)
	for _, n := range nodes {
		known[n.Name] = true
	}
	for _, name := range args {
		if !known[name] {
			var others []string
			for _, n := range nodes {
				others = append(others, n.Name)
			}
			return nil, 0, unknownNode(environment+" (of nodes that have reported)", name, others)
		}
	}
	if len(args) > 0 {
		slices.Sort(args)
		return slices.Compact(args), len(nodes), nil // a node that is named twice answers once
	}
	if f.all {
		sayUnheard(e, issued, environment, known)
	}
	chosen, err := roster.Where(nodes, condition, e.Clock.Now())
	sayLeftOut(e, err)
	if len(chosen) == 0 {
		return nil, 0, diag.None("nodes selected")
	}
	for _, n := range chosen {
		names = append(names, n.Name)
	}
	return names, len(nodes), nil
}

// sayUnheard names the approved nodes of an environment that a job for all does not go to, because their agents never began.
func sayUnheard(e *cli.Env, issued map[string]string, environment string, known map[string]bool) {
	var unheard []string
	for name, in := range issued {
		if in == environment && !known[name] {
			unheard = append(unheard, name)
		}
	}
	if len(unheard) > 0 {
		slices.Sort(unheard)
		cli.Say(e, "! Skipped nodes that have never reported: %s", terminal.Line(someNames(unheard)))
	}
}

// check returns an error that names a flag whose value no job can have.
func (f *jobFlags) check() error {
	switch {
	case f.atMost < 0:
		return diag.Errorf(diag.Pos{}, "--at-most: %w", diag.Expected("a number of nodes").Got("%d", f.atMost))
	case f.expires < time.Second || f.expires > signed.MaxJob:
		return diag.Errorf(diag.Pos{}, "--expires: %w", diag.Expected("a duration from 1s to %s", words.Duration(signed.MaxJob)).Got("%s", words.Duration(f.expires)))
	}
	for _, t := range f.targets {
		if err := signed.CheckTarget(t); err != nil {
			return fmt.Errorf("--target: %w", err)
		}
	}
	return nil
}

func (f *jobFlags) send(ctx context.Context, e *cli.Env, j *signed.Job, args []string) error {
	if err := f.check(); err != nil {
		return err
	}
	c, err := f.ConnectAs(e, identity.Operator)
	if err != nil {
		return err
	}
	defer c.Close()
	environment, err := f.environmentOf(ctx, e, c, args)
	if err != nil {
		return err
	}
	names, total, err := f.choose(ctx, e, c, environment, args)
	if err != nil {
		return err
	}
	if len(names) > signed.MaxNames && f.condition == "" {
		f.condition = "true" // all nodes, because a job cannot name so many
	}
	j.Condition = f.condition
	s, err := f.sign.sender(e, c, environment)
	if err != nil {
		return err
	}
	s.Fill(j, names, f.expires)
	if f.output.Value == "text" {
		atATime := ""
		if j.AtMost > 0 {
			atATime = fmt.Sprintf(", %d at a time", j.AtMost)
		}
		terminal.Fprintf(e.Stdout, "Job %s to %d of %s of %s%s\n", j.ID, len(names), words.Count(total, "node"), environment, atATime)
		if err := e.Stdout.Flush(); err != nil {
			return err
		}
	}
	p, err := s.Send(ctx, j, names, nil)
	if p != nil {
		if err := f.print(e, j, p); err != nil {
			return err
		}
	}
	switch {
	case errors.Is(err, context.Canceled):
		cli.Say(e, "The job continues; follow it with: ccm fleet jobs --last 1")
		return cli.Status(cli.ExitInterrupted)
	case err != nil:
		return err
	case !p.OK():
		return cli.Status(cli.ExitFailed)
	}
	return nil
}

// print prints the result of a job.
func (f *jobFlags) print(e *cli.Env, j *signed.Job, p *job.Progress) error {
	switch f.output.Value {
	case "json":
		return e.Print().Line(struct {
			*job.Progress
			ByNode []*job.Node `json:"by_node"`
		}{p, p.ByNode})
	case "names":
		for _, n := range p.ByNode {
			if !n.Done() {
				terminal.Fprintf(e.Stdout, "%s\n", terminal.Line(n.Name))
			}
		}
		return nil
	}
	what := fmt.Sprintf("changed %d", p.Changed)
	if j.Verb == signed.VerbPlan {
		what = fmt.Sprintf("pending %d", p.Pending)
	}
	terminal.Fprintf(e.Stdout, " accepted %d   done %d   %s   failed %d   refused %d   expired %d\n", p.Accepted, p.Done, what, p.Failed, p.Refused, p.Expired)
	for _, n := range p.ByNode {
		if n.Result == nil {
			continue
		}
		message := n.Result.Message
		if len(n.Result.Failures) > 0 {
			message = n.Result.Failures[0].Resource + ": " + n.Result.Failures[0].Message
		}
		if n.State != record.JobAccepted && !n.Done() {
			terminal.Fprintf(e.Stdout, "  %s  %s  %s\n", terminal.Line(n.Name), terminal.Line(strings.TrimSpace(string(n.State)+" "+n.Result.Outcome)), terminal.Line(words.FirstLine(message)))
		}
	}
	if len(p.Silent) > 0 {
		terminal.Fprintf(e.Stdout, " no response %d: %s (--output names)\n", len(p.Silent), terminal.Line(someNames(p.Silent)))
	}
	if p.NotAsked > 0 {
		terminal.Fprintf(e.Stdout, " not started %d: the job expired first\n", p.NotAsked)
	}
	return nil
}
