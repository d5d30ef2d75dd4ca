package fleet

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/cmd/ccm/cli/fleetdir"
	"github.com/luaccm/ccm/fleet/enrol"
	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/runtime/diag"
)

// newUserCommand returns fleet user.
func newUserCommand(e *cli.Env, f *fleetdir.Flags) *cobra.Command {
	role := cli.NewChoice(string(identity.Viewer), string(identity.Viewer), string(identity.Operator), string(identity.Admin))
	var out changePrinter
	cmd := &cobra.Command{
		Use:   "user NAME",
		Short: "Create credentials for a person",
		Long: `Create a directory with credentials for a person. It becomes that person's
~/.config/ccm/fleet, or the directory that CCM_FLEET names.

  ccm fleet user bob --role operator

  viewer     reads nodes, events and jobs
  operator   also writes releases, rollouts and jobs; nodes accept them only if
             signed, so an operator must be in allowed_signers too
  admin      also enrols machines and changes streams

Approving and revoking machines also requires keys in the fleet directory.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 && args[0] == "add" { // the form of earlier versions
				return nil
			}
			return cli.WantArguments(1, 1)(cmd, args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 2 {
				cli.Say(e, "ccm fleet user add is now: ccm fleet user")
				args = args[1:]
			}
			d, err := f.Open(e)
			if err != nil {
				return err
			}
			path, err := d.AddUser(args[0], identity.Role(role.Value))
			if err != nil {
				return err
			}
			c := fleetChange{Change: created, Kind: "user", Name: args[0], Role: role.Value, Path: path}
			if err := out.print(e, c, fmt.Sprintf("%s %s: %s", c.Role, c.Name, c.Path)); err != nil {
				return err
			}
			cli.Say(e, "Transfer this directory securely; it contains a private key. Then remove it here.")
			return nil
		},
	}
	out = addChangePrinter(cmd)
	cmd.Flags().Var(role, "role", "role of the person: viewer, operator or admin")
	return cmd
}

func newRevokeCommand(e *cli.Env, f *fleetdir.Flags) *cobra.Command {
	person := false
	var out changePrinter
	cmd := &cobra.Command{
		Use:   "revoke NAME",
		Short: "Revoke a node or, with --user, a person",
		Long: `Revoke a node or, with --user, a person. The servers close its connection at once, and
accept no other.

  ccm fleet revoke web7

The machine keeps its present configuration. To change it, somebody must log in there.`,
		Args: cli.WantArguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := f.DeskOf(e, identity.Admin)
			if err != nil {
				return err
			}
			defer d.Cluster.Close()
			if person {
				return revokeUser(cmd.Context(), e, d, out, args[0])
			}
			return revokeNode(cmd.Context(), e, d, out, args[0])
		},
	}
	out = addChangePrinter(cmd)
	cmd.Flags().BoolVar(&person, "user", false, "NAME is a person")
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
		switch {
		case len(args) > 0:
			return nil, cobra.ShellCompDirectiveNoFileComp
		case person:
			d, err := f.Open(e)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return d.Users(), cobra.ShellCompDirectiveNoFileComp
		}
		return f.CompleteNodes(e)(cmd, args, text)
	}
	return cmd
}

func revokeNode(ctx context.Context, e *cli.Env, d *enrol.Desk, out changePrinter, name string) error {
	nodes, _, err := d.Nodes(ctx)
	if err != nil {
		return err
	}
	var names []string
	found := false
	for _, n := range nodes {
		if names = append(names, n.Name); n.Name != name || n.Revoked {
			continue
		}
		servers, err := d.Revoke(ctx, n)
		if err != nil {
			return err
		}
		found = true
		c := nodeChange(removed, &n)
		c.Servers = servers
		if err := out.print(e, c, nodeText(c)+", "+c.Fingerprint); err != nil {
			return err
		}
		sayServers(e, d, servers)
	}
	if !found {
		if slices.Contains(names, name) {
			return diag.At(diag.Pos{}, diag.Already(name, "revoked"))
		}
		return unknownNode("the fleet", name, names)
	}
	return nil
}

func revokeUser(ctx context.Context, e *cli.Env, d *enrol.Desk, out changePrinter, name string) error {
	key, err := d.Cluster.Directory.UserKey(name)
	if err != nil {
		return fmt.Errorf("user %s: %w", name, err)
	}
	servers, err := d.RevokeKey(ctx, key)
	if err != nil {
		return err
	}
	if err := out.print(e, fleetChange{Change: removed, Kind: "user", Name: name, Servers: servers}, "user "+name); err != nil {
		return err
	}
	sayServers(e, d, servers)
	return nil
}

// sayServers says if not all servers have a change of the account.
func sayServers(e *cli.Env, d *enrol.Desk, servers []string) {
	if all := len(d.Cluster.Directory.Fleet.Servers); len(servers) < all {
		cli.Say(e, "%d of %d servers have it: %s. The others get it from these when they are back.", len(servers), all, cli.NamesOf(servers))
	}
}
