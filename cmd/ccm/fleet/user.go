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

func newUserCommand(e *cli.Env, f *fleetdir.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "user",
		Short: "Give people access to a fleet",
	}
	cmd.AddCommand(newUserAddCommand(e, f))
	cli.NeedCommand(cmd)
	return cmd
}

func newUserAddCommand(e *cli.Env, f *fleetdir.Flags) *cobra.Command {
	role := cli.NewChoice(string(identity.Viewer), string(identity.Viewer), string(identity.Operator), string(identity.Admin))
	var out changePrinter
	cmd := &cobra.Command{
		Use:   "add NAME",
		Short: "Make the credentials of a person",
		Long: `Make a directory with the credentials of a person, to be handed over as it is. It
becomes that person's ~/.config/ccm/fleet, or what CCM_FLEET names.

  viewer     reads nodes, events and jobs
  operator   also writes releases, roll-outs and jobs; nodes believe them only if
             they are signed, so an operator also stands in allowed_signers
  admin      also enrols, and changes streams

To approve and to revoke takes keys of the directory of the fleet besides.`,
		Args: cli.WantArguments(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
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
			cli.Say(e, "Hand this directory over by a safe way: it holds a private key. Then remove it here.")
			return nil
		},
	}
	out = addChangePrinter(cmd)
	cmd.Flags().Var(role, "role", "what the person may do: viewer, operator or admin")
	return cmd
}

func newRevokeCommand(e *cli.Env, f *fleetdir.Flags) *cobra.Command {
	person := false
	var out changePrinter
	cmd := &cobra.Command{
		Use:   "revoke NAME",
		Short: "Take the credentials of a node back, or with --user those of a person",
		Long: `Take the credentials of a node back. The servers end its connection at once, and
take none of it again. The machine goes on as it is, with what it has: to have it
do something else somebody has to go there.`,
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
	cmd.Flags().BoolVar(&person, "user", false, "the name is that of a person")
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
			return diag.Errorf(diag.Pos{}, "%s was revoked already", name)
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
		cli.Say(e, "%d of %d servers know it: %s. The others get it from these when they are back.", len(servers), all, cli.NamesOf(servers))
	}
}
