package main

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/luaccm/ccm/fleet/cluster"
	"github.com/luaccm/ccm/fleet/enrol"
	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/site"
)

// fleetVariable names the directory of the fleet if --fleet does not.
const fleetVariable = "CCM_FLEET"

// fleetFlags are the flags of all commands of a fleet.
type fleetFlags struct{ directory string }

func newFleetCommand(e *env) *cobra.Command {
	f := &fleetFlags{}
	cmd := &cobra.Command{
		Use:   "fleet",
		Short: "See and steer many machines, by way of NATS",
		Long: `See and steer many machines that run ccm agent. What they are told, and what they
tell, is stored by three nats-servers; what a machine does is believed only if an
operator has signed it.

  ccm fleet init ~/fleet --server nats1 --server nats2 --server nats3
  ccm fleet enrol approve web1
  ccm fleet nodes --where 'state.outcome == "failed"'

The directory of the fleet is said by --fleet, or by CCM_FLEET, or is
~/.config/ccm/fleet.`,
	}
	f.add(cmd.PersistentFlags())
	cmd.AddCommand(newFleetInitCommand(e), newFleetEnrolCommand(e, f), newFleetRevokeCommand(e, f), newFleetUserCommand(e, f), newFleetRekeyCommand(e, f))
	cmd.AddCommand(newFleetReleaseCommand(e, f), newFleetRolloutCommand(e, f), newFleetRollbackCommand(e, f), newFleetSignersCommand(e, f), newFleetJobsCommand(e, f), newFleetEventsCommand(e, f))
	cmd.AddCommand(newFleetDeedCommands(e, f)...)
	cmd.AddCommand(newFleetJobCommands(e, f)...)
	cmd.AddCommand(newFleetNodesCommand(e, f), newFleetStatusCommand(e, f), newFleetCheckCommand(e, f), newFleetServeCommand(e, f))
	needCommand(cmd)
	return cmd
}

func (f *fleetFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.directory, "fleet", "", "the `DIR` of the fleet (default CCM_FLEET, else ~/.config/ccm/fleet)")
}

// path returns the directory of the fleet.
func (f *fleetFlags) path() string {
	for _, dir := range []string{f.directory, os.Getenv(fleetVariable)} {
		if dir != "" {
			return dir
		}
	}
	return filepath.Join(site.UserConfig(), "fleet")
}

// open reads the directory of the fleet.
func (f *fleetFlags) open(e *env) (*identity.Directory, error) {
	d, err := identity.Open(f.path(), machine(e))
	if err != nil {
		return nil, (&diag.Error{Err: err}).WithHint("--fleet DIR or %s names the directory that ccm fleet init or ccm fleet user add has made", fleetVariable)
	}
	return d, nil
}

// connect connects to the servers of the fleet. The connection is to be closed.
func (f *fleetFlags) connect(e *env) (*cluster.Cluster, error) {
	d, err := f.open(e)
	if err != nil {
		return nil, err
	}
	return cluster.Connect(d)
}

// desk connects to the servers to answer requests.
func (f *fleetFlags) desk(e *env) (*enrol.Desk, error) {
	c, err := f.connect(e)
	if err != nil {
		return nil, err
	}
	return &enrol.Desk{Cluster: c, Now: e.Clock.Now}, nil
}

// deskOf is desk for those who have a role, or one that may more.
func (f *fleetFlags) deskOf(e *env, least identity.Role) (*enrol.Desk, error) {
	c, err := f.connectAs(e, least)
	if err != nil {
		return nil, err
	}
	return &enrol.Desk{Cluster: c, Now: e.Clock.Now}, nil
}

// connectAs is connect for those who have a role, or one that may more. The servers would say nothing to others.
func (f *fleetFlags) connectAs(e *env, least identity.Role) (*cluster.Cluster, error) {
	d, err := f.open(e)
	if err != nil {
		return nil, err
	}
	if !d.Fleet.Role.Includes(least) {
		return nil, diag.Errorf(diag.Pos{}, "%s is %s of this fleet: that takes %s", d.Fleet.User, d.Fleet.Role.Article(), least.Article()).
			WithHint("an admin makes other credentials with ccm fleet user add %s --role %s", d.Fleet.User, least)
	}
	return cluster.Connect(d)
}

// checkNodes returns an error for the first name that is that of no node.
func checkNodes(ctx context.Context, d *enrol.Desk, names []string) error {
	if len(names) == 0 {
		return nil
	}
	issued, err := d.Environments(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if issued[name] == "" {
			return unknownNode("the fleet", name, slices.Collect(maps.Keys(issued)))
		}
	}
	return nil
}

// unknownNode says that a fleet, or an environment, has no node of a name.
func unknownNode(of, name string, known []string) error {
	err := diag.Errorf(diag.Pos{}, "%s has no node %s", of, name)
	err.Hint = diag.DidYouMean(name, known)
	if err.Hint == "" {
		err.Hint = "ccm fleet nodes --output names lists them"
	}
	return err
}

// completeNodes offers the names of nodes that are not revoked, for an argument.
func (f *fleetFlags) completeNodes(e *env) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		d, err := f.desk(e)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer d.Cluster.Close()
		nodes, _, err := d.Nodes(cmd.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var names []string
		for _, n := range nodes {
			if !n.Revoked {
				names = append(names, n.Name)
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeEnvironments offers the environments of the fleet.
func (f *fleetFlags) completeEnvironments(e *env) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		d, err := f.open(e)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return d.Fleet.Environments, cobra.ShellCompDirectiveNoFileComp
	}
}
