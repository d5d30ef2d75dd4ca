// Package fleetdir has the flag --fleet, and opens and connects with the directory that the flag
// names.
package fleetdir

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/fleet/cluster"
	"github.com/luaccm/ccm/fleet/enrol"
	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/runtime/collector"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/site"
)

// fleetVariable names the directory of the fleet if --fleet does not.
const fleetVariable = "CCM_FLEET"

// Flags are the flags of all commands of a fleet.
type Flags struct{ directory string }

// Add adds the flags.
func (f *Flags) Add(fs *pflag.FlagSet) {
	fs.StringVar(&f.directory, "fleet", "", "fleet directory `DIR` (default CCM_FLEET or ~/.config/ccm/fleet)")
}

// path returns the directory of the fleet.
func (f *Flags) path() string {
	for _, dir := range []string{f.directory, os.Getenv(fleetVariable)} {
		if dir != "" {
			return dir
		}
	}
	return filepath.Join(site.UserConfig(), "fleet")
}

// Open reads the directory of the fleet.
func (f *Flags) Open(e *cli.Env) (*identity.Directory, error) {
	d, err := identity.Open(f.path(), cli.Machine(e))
	if err != nil {
		return nil, (&diag.Error{Err: err}).WithHint("set --fleet DIR or %s to the directory made by ccm fleet init or ccm fleet user", fleetVariable)
	}
	d.KeepVerified(filepath.Join(state.CacheDir(), "fleet"))
	return d, nil
}

// Connect connects to the servers of the fleet. The connection is to be closed.
func (f *Flags) Connect(e *cli.Env) (*cluster.Cluster, error) {
	d, err := f.Open(e)
	if err != nil {
		return nil, err
	}
	return cluster.Connect(d)
}

// Desk connects to the servers to answer requests.
func (f *Flags) Desk(e *cli.Env) (*enrol.Desk, error) {
	c, err := f.Connect(e)
	if err != nil {
		return nil, err
	}
	return &enrol.Desk{Cluster: c, Now: e.Clock.Now}, nil
}

// DeskOf is Desk for users who have at least a role.
func (f *Flags) DeskOf(e *cli.Env, least identity.Role) (*enrol.Desk, error) {
	c, err := f.ConnectAs(e, least)
	if err != nil {
		return nil, err
	}
	return &enrol.Desk{Cluster: c, Now: e.Clock.Now}, nil
}

// ConnectAs is Connect for users who have at least a role. Without it the servers would not answer.
func (f *Flags) ConnectAs(e *cli.Env, least identity.Role) (*cluster.Cluster, error) {
	d, err := f.OpenAs(e, least)
	if err != nil {
		return nil, err
	}
	collector.Stay(400) // of 10,000 nodes hardly anything that is read is garbage, and looking for it takes a quarter of the time
	return cluster.Connect(d)
}

// OpenAs is Open for users who have at least a role.
func (f *Flags) OpenAs(e *cli.Env, least identity.Role) (*identity.Directory, error) {
	d, err := f.Open(e)
	if err != nil {
		return nil, err
	}
	if !d.Fleet.Role.Includes(least) {
		return nil, diag.At(diag.Pos{}, diag.Requires("the command", "%s of the fleet, but %s is %s", least.Article(), d.Fleet.User, d.Fleet.Role.Article())).
			WithHint("ask an admin to run: ccm fleet user %s --role %s", d.Fleet.User, least)
	}
	return d, nil
}

// CompleteNodes completes the names of nodes, except revoked nodes and nodes that are given
// already.
func (f *Flags) CompleteNodes(e *cli.Env) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		d, err := f.Desk(e)
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
			if !n.Revoked && !slices.Contains(args, n.Name) {
				names = append(names, n.Name)
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteEnvironment completes the first argument with the environments of the fleet, and later
// arguments with files or nothing, depending on behind.
func (f *Flags) CompleteEnvironment(e *cli.Env, behind cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, behind
		}
		return f.CompleteEnvironments(e)(cmd, args, text)
	}
}

// CompleteEnvironments offers the environments of the fleet, for a flag.
func (f *Flags) CompleteEnvironments(e *cli.Env) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		d, err := f.Open(e)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return d.Fleet.Environments, cobra.ShellCompDirectiveNoFileComp
	}
}

// ForeignHint says where to get a newer fleet.json.
const ForeignHint = "after ccm fleet rekey, copy the new fleet.json from users/NAME of the fleet directory"
