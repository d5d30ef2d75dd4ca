package fleet

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/cmd/ccm/cli/fleetdir"
	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/enrol"
	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/words"
)

// rekeyPause is the time between two looks at which nodes use the new key.
const rekeyPause = 2 * time.Second

// A rekeyOutput is the result of the command in JSON.
type rekeyOutput struct {
	*enrol.RekeyProgress
	Done bool `json:"done"`
}

func newRekeyCommand(e *cli.Env, f *fleetdir.Flags) *cobra.Command {
	wait, leave := 30*time.Minute, false
	output := cli.NewChoice("text", "text", "json")
	cmd := &cobra.Command{
		Use:   "rekey",
		Short: "Replace the key that signs nodes, and clear revocations",
		Long: `Replace the key that signs nodes, and clear revocations: after a theft, or when the list
of revoked nodes is long (see ccm fleet check).

  ccm fleet rekey

A new key signs all nodes that are not revoked, and both keys are trusted. Nodes fetch
their new JWT within ten minutes and reconnect. When all have, the old key is no longer
trusted, and the list of revoked nodes is cleared.

If the command is interrupted, or nodes are offline, run it again: it continues. Revoke
nodes that are gone for good, or leave them behind with --leave-silent: these must
enrol again.

Stop ccm fleet enrol approve --watch first. Afterwards, copy the fleet directory to your
backups, and give people the fleet.json in users/NAME, which they need to see nodes.

Exit status: 4 if some nodes do not use the new key yet.`,
		Args: cli.WantArguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if wait < 0 {
				return diag.Errorf(diag.Pos{}, "--wait: %w", diag.Expected("a duration such as 30m").Got("%s", wait))
			}
			ctx, cancel := e.Stop.Context(cmd.Context())
			defer cancel()
			d, err := f.DeskOf(e, identity.Admin)
			if err != nil {
				return err
			}
			defer d.Cluster.Close()
			return rekeyFleet(ctx, e, d, e.Clock.Now().Add(wait), leave, output.Value)
		},
	}
	cli.DurationVar(cmd.Flags(), &wait, "wait", wait, "wait at most `DURATION` for nodes")
	cmd.Flags().BoolVar(&leave, "leave-silent", false, "afterwards drop silent nodes, which must enrol again")
	cmd.Flags().Var(output, "output", "output format: text or json")
	return cmd
}

func rekeyFleet(ctx context.Context, e *cli.Env, d *enrol.Desk, until time.Time, leave bool, form string) error {
	signed, err := d.BeginRekey(ctx)
	if err != nil {
		return err
	}
	if form == "text" {
		terminal.Fprintf(e.Stdout, "~ %s signed by the new key\n", words.Count(signed, "node"))
		_ = e.Stdout.Flush() // a failed write is reported at the end
	}
	r, err := waitForRekeyed(ctx, e, d, until)
	if err != nil {
		return err
	}
	out := rekeyOutput{r, len(r.Pending) == 0 || leave && ctx.Err() == nil}
	if out.Done {
		servers, err := d.EndRekey(ctx)
		if err != nil {
			return err
		}
		sayServers(e, d, servers)
	}
	if form == "json" {
		err = e.Print().Line(out)
	} else if out.Done {
		terminal.Fprintf(e.Stdout, "- old key and %d revoked nodes\n", r.Revoked)
	}
	if len(r.Pending) > 0 {
		hint := "Both keys are trusted. Run this again when they are online, or revoke them"
		if out.Done {
			hint = "They were dropped: enrol them again"
		}
		cli.Say(e, "%d of %d nodes do not use the new key: %s. %s.", len(r.Pending), r.Signed, someOf(r.Pending), hint)
	}
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return cli.Status(cli.ExitInterrupted)
	case len(r.Pending) > 0:
		return cli.Status(cli.ExitFailed)
	}
	return nil
}

// waitForRekeyed waits until all nodes use the new key, or until a time. Servers may be silent meanwhile.
func waitForRekeyed(ctx context.Context, e *cli.Env, d *enrol.Desk, until time.Time) (*enrol.RekeyProgress, error) {
	waiting, silent := -1, false
	for {
		r, err := d.Rekeyed(context.WithoutCancel(ctx))
		ended := ctx.Err() != nil || e.Clock.Now().After(until)
		switch {
		case err != nil && (ended || !direct.IsPassing(err)):
			return nil, diag.Cannot("determine", "which nodes use the new key", err)
		case err != nil:
			if !silent {
				cli.Say(e, "Servers are not responding, retrying: %s", err)
			}
		case len(r.Pending) == 0 || ended:
			return r, nil
		case waiting != len(r.Pending):
			waiting = len(r.Pending)
			cli.Say(e, "Waiting for %d of %d nodes: %s", waiting, r.Signed, someOf(r.Pending))
		}
		silent = err != nil
		select {
		case <-ctx.Done():
		case <-time.After(rekeyPause):
		}
	}
}
