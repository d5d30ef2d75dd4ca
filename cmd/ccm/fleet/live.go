package fleet

import (
	"context"
	"fmt"
	"time"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/fleet/enrol"
	"github.com/luaccm/ccm/fleet/job"
	"github.com/luaccm/ccm/fleet/overview"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/words"
)

// liveFlags are the flags to ask nodes instead of using their earlier messages.
type liveFlags struct {
	sign    signFlags
	live    bool
	timeout time.Duration
}

// askNodes asks the reachable nodes, prints their answers, and names the other nodes.
func (f *liveFlags) askNodes(ctx context.Context, e *cli.Env, d *enrol.Desk, o overview.Options, names []string, form string) error {
	if f.timeout < time.Second || f.timeout > signed.MaxJob {
		return diag.Errorf(diag.Pos{}, "--within: %w", diag.Expected("a duration from 1s to %s", words.Duration(signed.MaxJob)).Got("%s", words.Duration(f.timeout)))
	}
	answer, err := overview.Ask(ctx, d, overview.Query{
		Options: o, Names: names, Timeout: f.timeout,
		Sender: func(environment string) (*job.Sender, error) { return f.sign.sender(e, d.Cluster, environment) },
	})
	if err != nil {
		return err
	}
	if len(names) == 1 && answer.Answered == 1 {
		return printOne(e, answer.Nodes[0], form)
	}
	if err := printNodes(e, answer.Nodes, form); err != nil {
		return err
	}
	if form == "text" {
		cli.Say(e, "%d of %s; %d responded", len(answer.Nodes), words.Count(answer.Total, "node"), answer.Answered)
	}
	sayLeftOut(e, answer.ConditionError)
	if form == "text" {
		sayForeign(e, answer.Foreign)
	}
	for _, x := range []struct {
		names    []string
		question string
	}{
		{answer.Unanswered, fmt.Sprintf("No response within %s", words.Duration(f.timeout))},
		{answer.Offline, "Not contacted, because they are silent"},
	} {
		if len(x.names) > 0 {
			cli.Say(e, "%s: %s", x.question, someOf(x.names))
		}
	}
	switch {
	case len(answer.Unanswered) > 0:
		return cli.Status(cli.ExitFailed)
	case len(names) == 1 && answer.Answered == 0:
		return diag.Errorf(diag.Pos{}, "%s does not respond", names[0]).WithHint("show its last report with: ccm fleet nodes %s", names[0])
	}
	return nil
}
