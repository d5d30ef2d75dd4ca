package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/fleet/job"
	"github.com/luaccm/ccm/runtime/terminal"
)

func newFleetJobsCommand(e *env, fleet *fleetFlags) *cobra.Command {
	output := newChoice("text", "text", "json")
	last, environment := 20, ""
	cmd := &cobra.Command{
		Use:   "jobs",
		Short: "List the jobs that were sent, and what became of them",
		Long: `List the jobs that were sent, the newest first, and what became of them. Jobs are
kept for 400 days, and nobody can remove one; what nodes told of them for 7.`,
		Args: wantArguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := e.UntilStopped(cmd.Context())
			defer cancel()
			return listJobs(ctx, e, fleet, environment, last, output.value)
		},
	}
	cmd.Flags().IntVar(&last, "last", last, "only the last `NUMBER` of them; 0 for all")
	cmd.Flags().StringVar(&environment, "environment", "", "only those of this `ENVIRONMENT`")
	cmd.Flags().Var(output, "output", "form of the output: text or json (one object a line)")
	completeFlag(e, cmd, "environment", fleet.completeEnvironments(e))
	return cmd
}

func listJobs(ctx context.Context, e *env, fleet *fleetFlags, environment string, last int, output string) error {
	c, err := fleet.connect(e)
	if err != nil {
		return err
	}
	defer c.Close()
	list, err := job.History(ctx, c.Conn, environment, last)
	if err != nil {
		return err
	}
	if output == "json" {
		for _, p := range list {
			text, err := json.Marshal(struct {
				*job.Past
				Progress *job.Progress `json:"progress"`
			}{p, p.Progress})
			if err != nil {
				return err
			}
			terminal.Fprintf(e.stdout, "%s\n", text)
		}
		return nil
	}
	rows := [][]string{{"JOB", "TIME", "BY", "WHAT", "NODES", "REASON", ""}}
	for _, p := range list {
		r := p.Progress
		rows = append(rows, []string{p.ID, p.Created.Local().Format("2006-01-02 15:04"), p.By, p.Environment + " " + string(p.Verb), strconv.Itoa(p.Count), strconv.Quote(p.Reason),
			fmt.Sprintf("%d ok, %d failed, %d refused, %d silent", r.Done-r.Failed, r.Failed, r.Refused+r.Expired, len(r.Silent)+r.NotAsked)})
	}
	printTable(e, rows)
	return nil
}
