package fleet

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/cmd/ccm/cli/fleetdir"
	"github.com/luaccm/ccm/fleet/job"
	"github.com/luaccm/ccm/runtime/diag"
)

func newJobsCommand(e *cli.Env, fleet *fleetdir.Flags) *cobra.Command {
	output := cli.NewChoice("text", "text", "json")
	last, environment := 20, ""
	cmd := &cobra.Command{
		Use:   "jobs",
		Short: "List the jobs that were sent, and what became of them",
		Long: `List the jobs that were sent, the newest first, and what became of them. Jobs are
kept for 400 days, and nobody can remove one; what nodes told of them for 7.`,
		Args: cli.WantArguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := e.UntilStopped(cmd.Context())
			defer cancel()
			return listJobs(ctx, e, fleet, environment, last, output.Value)
		},
	}
	cmd.Flags().IntVar(&last, "last", last, "only the last `NUMBER` of them; 0 for all")
	cmd.Flags().StringVar(&environment, "environment", "", "only those of this `ENVIRONMENT`")
	cmd.Flags().Var(output, "output", "form of the output: text or json (one object a line)")
	cli.CompleteFlag(e, cmd, "environment", fleet.CompleteEnvironments(e))
	return cmd
}

func listJobs(ctx context.Context, e *cli.Env, fleet *fleetdir.Flags, environment string, last int, output string) error {
	if last < 0 {
		return diag.Errorf(diag.Pos{}, "--last: want a number of jobs, or 0 for all, got %d", last)
	}
	c, err := fleet.Connect(e)
	if err != nil {
		return err
	}
	defer c.Close()
	if environment != "" {
		if _, err := environmentOf(c, environment); err != nil {
			return err
		}
	}
	list, err := job.History(ctx, c.Conn, environment, last)
	if err != nil {
		return err
	}
	if output == "json" {
		for _, p := range list {
			if err := e.Print().Line(p); err != nil {
				return err
			}
		}
		return nil
	}
	if len(list) == 0 {
		cli.Say(e, "No job was sent.")
		return nil
	}
	rows := [][]string{{"JOB", "TIME", "BY", "WHAT", "NODES", "REASON", ""}}
	for _, p := range list {
		rows = append(rows, jobRow(p, e.Clock.Now()))
	}
	printTable(e, rows)
	return nil
}

// jobRow is a job in the table. Nodes are not called silent before the job expires: they may still
// answer, and a replica may lack the latest answers.
func jobRow(p *job.SentJob, now time.Time) []string {
	r, reason, silent := p.Progress, "-", "silent"
	if p.Reason != "" {
		reason = strconv.Quote(p.Reason)
	}
	if now.Before(p.Expires) {
		silent = "not yet heard"
	}
	return []string{p.ID, p.CreateTime.Local().Format("2006-01-02 15:04"), p.By, p.Environment + " " + string(p.Verb), strconv.Itoa(p.Count), reason,
		fmt.Sprintf("%d ok, %d failed, %d refused, %d %s", r.Done-r.Failed, r.Failed, r.Refused+r.Expired, len(r.Silent)+r.NotAsked, silent)}
}
