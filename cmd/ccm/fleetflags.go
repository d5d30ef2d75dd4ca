package main

import (
	"os"
	"path/filepath"

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

// foreignHint says where to get the newer one.
const foreignHint = "after ccm fleet rekey everybody needs fleet.json anew: it is in users/NAME of the directory of the fleet"
