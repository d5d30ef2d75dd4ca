// Package fleet is ccm fleet: commands for operators of many machines, which reach these through
// NATS servers.
package fleet

import (
	"context"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/cmd/ccm/cli/fleetdir"
	"github.com/luaccm/ccm/fleet/enrol"
	"github.com/luaccm/ccm/runtime/diag"
)

// Command returns ccm fleet. Its command release checks sites with check.
func Command(e *cli.Env, check CheckSite) *cobra.Command {
	f := &fleetdir.Flags{}
	cmd := &cobra.Command{
		Use:   "fleet",
		Short: "Manage a fleet of machines over NATS",
		Long: `Manage a fleet of machines that run ccm agent, over NATS.

  ccm fleet init ~/fleet --server nats1 --server nats2 --server nats3
  ccm fleet enrol approve web1
  ccm fleet nodes --where 'state.outcome == "failed"'

Commands and reports are stored on three stock nats-servers. Machines only act on
commands that an operator has signed.

The fleet directory is --fleet, CCM_FLEET or ~/.config/ccm/fleet.`,
	}
	f.Add(cmd.PersistentFlags())
	cmd.AddCommand(newInitCommand(e), newEnrolCommand(e, f), newRevokeCommand(e, f), newUserCommand(e, f), newRekeyCommand(e, f))
	cmd.AddCommand(newReleaseCommand(e, f, check), newRolloutCommand(e, f), newRollbackCommand(e, f), newSignersCommand(e, f), newJobsCommand(e, f), newEventsCommand(e, f))
	cmd.AddCommand(newOperationCommands(e, f)...)
	cmd.AddCommand(newJobCommands(e, f)...)
	cmd.AddCommand(newNodesCommand(e, f), newStatusCommand(e, f), newCheckCommand(e, f), newServeCommand(e, f))
	cli.NeedCommand(cmd)
	return cmd
}

// checkNodes returns an error for the first name that no node has.
func checkNodes(ctx context.Context, d *enrol.Desk, names []string) error {
	return checkNames(ctx, d, names, false)
}

// checkNames is checkNodes. With revokedToo the name of a revoked node is valid, because there are
// messages of its past.
func checkNames(ctx context.Context, d *enrol.Desk, names []string, revokedToo bool) error {
	if len(names) == 0 {
		return nil
	}
	nodes, foreign, err := d.Nodes(ctx)
	if err != nil {
		return err
	}
	issued := enrol.Environments(nodes)
	for _, name := range names {
		switch {
		case issued[name] != "":
		case len(foreign) > 0 && len(nodes) == 0:
			return enrol.ErrForeign
		case slices.ContainsFunc(nodes, func(n enrol.Node) bool { return n.Name == name }):
			if !revokedToo {
				return diag.Errorf(diag.Pos{}, "%s was revoked", name).WithHint("show its events with: ccm fleet events %s", name)
			}
		default:
			return unknownNode("the fleet", name, slices.Collect(maps.Keys(issued)))
		}
	}
	return nil
}

// unknownNode says that a fleet, or an environment, has no node of a name.
func unknownNode(of, name string, known []string) error {
	err := diag.At(diag.Pos{}, diag.None("node %s in %s", name, of))
	err.Hint = diag.DidYouMean(name, known)
	if err.Hint == "" {
		err.Hint = "list nodes with: ccm fleet nodes --output names"
	}
	return err
}
