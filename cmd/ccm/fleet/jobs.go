package fleet

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/cmd/ccm/cli/fleetdir"
	"github.com/luaccm/ccm/fleet/author"
	"github.com/luaccm/ccm/fleet/cluster"
	"github.com/luaccm/ccm/fleet/job"
	"github.com/luaccm/ccm/fleet/release"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/terminal"
)

func newJobsCommand(e *cli.Env, fleet *fleetdir.Flags) *cobra.Command {
	output := cli.NewChoice("text", "text", "json")
	last, environment := 20, ""
	cmd := &cobra.Command{
		Use:   "jobs",
		Short: "List jobs and their outcomes",
		Long: `List jobs and their outcomes, newest first. Read-only.

  ccm fleet jobs --last 5

Jobs are kept for 400 days, and nobody can remove one. Responses of nodes are kept for
7 days.

BY is the signer according to allowed_signers in the fleet directory. It is a key if
the signer is unknown, and none if the signature is invalid.`,
		Args: cli.WantArguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := e.Stop.Context(cmd.Context())
			defer cancel()
			return listJobs(ctx, e, fleet, environment, last, output.Value)
		},
	}
	cmd.Flags().IntVar(&last, "last", last, "last `NUMBER` of jobs (0 for all)")
	cmd.Flags().StringVar(&environment, "environment", "", "only jobs of `ENVIRONMENT`")
	cmd.Flags().Var(output, "output", "output format: text or json (one object per line)")
	cli.CompleteFlag(e, cmd, "environment", fleet.CompleteEnvironments(e))
	return cmd
}

func listJobs(ctx context.Context, e *cli.Env, fleet *fleetdir.Flags, environment string, last int, output string) error {
	if last < 0 {
		return diag.Errorf(diag.Pos{}, "--last: %w", diag.Expected("a number of jobs, or 0 for all").Got("%d", last))
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
	list, err := job.History(ctx, c.Conn, environment, last, booksOf(ctx, e, c))
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
		cli.Say(e, "No jobs.")
		return nil
	}
	rows := [][]string{{"JOB", "TIME", "BY", "WHAT", "NODES", "REASON", ""}}
	for _, p := range list {
		rows = append(rows, jobRow(p, e.Clock.Now()))
	}
	e.Print().Table(rows)
	sayUnverified(e, list)
	return nil
}

// booksOf returns a function that opens the book of signers of an environment once.
func booksOf(ctx context.Context, e *cli.Env, c *cluster.Cluster) func(environment string) (*author.Book, error) {
	books := map[string]*author.Book{}
	return func(environment string) (*author.Book, error) {
		if books[environment] == nil {
			store, err := release.Open(c, environment, e.Clock.Now)
			if err != nil {
				return nil, err
			}
			if _, err := store.Read(ctx); err != nil { // the signers of the environment
				return nil, err
			}
			books[environment] = store.Book
		}
		return books[environment], nil
	}
}

// sayUnverified says why it is not known who has signed some jobs.
func sayUnverified(e *cli.Env, list []*job.SentJob) {
	jobs := map[string][]string{}
	var reasons []string
	for _, p := range list {
		if p.Verified {
			continue
		}
		if jobs[p.Doubt] == nil {
			reasons = append(reasons, p.Doubt)
		}
		jobs[p.Doubt] = append(jobs[p.Doubt], p.ID)
	}
	for _, why := range reasons {
		cli.Say(e, "! Unknown signer of %s: %s", terminal.Line(someNames(jobs[why])), terminal.Line(why))
	}
	if len(reasons) > 0 {
		cli.Say(e, "  "+signersHint)
	}
}

// signerOf returns the signer of a job, for the table.
func signerOf(p *job.SentJob) string {
	switch {
	case p.Forged || len(p.Signers) == 0:
		return "nobody"
	case p.Verified:
		return terminal.Line(p.Names())
	}
	return shortKey(p.Signers[0].Key)
}

// shortKey returns the beginning of a fingerprint.
func shortKey(fingerprint string) string {
	const shown = len("SHA256:") + 12
	if len(fingerprint) <= shown {
		return fingerprint
	}
	return fingerprint[:shown] + "..."
}

// jobRow is a job in the table. Nodes are not called silent before the job expires: they may still
// answer, and a replica may lack the latest answers.
func jobRow(p *job.SentJob, now time.Time) []string {
	r, reason, silent := p.Progress, "-", "silent"
	if p.Reason != "" {
		reason = strconv.Quote(p.Reason)
	}
	if now.Before(p.Expires) {
		silent = "no response yet"
	}
	return []string{p.ID, p.CreateTime.Local().Format("2006-01-02 15:04"), signerOf(p), p.Environment + " " + string(p.Verb), strconv.Itoa(p.Count), reason,
		fmt.Sprintf("%d ok, %d failed, %d refused, %d %s", r.Done-r.Failed, r.Failed, r.Refused+r.Expired, len(r.Silent)+r.NotAsked, silent)}
}
