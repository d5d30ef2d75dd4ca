package fleet

import (
	"context"
	"os/user"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/fleet/cluster"
	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/fleet/subject"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/signers"
)

func newInitCommand(e *cli.Env) *cobra.Command {
	o := identity.Options{}
	apply, noop, signersFile := false, false, ""
	var events, jobs, sites resources.Size
	var out changePrinter
	cmd := &cobra.Command{
		Use:   "init DIR",
		Short: "Create the keys, server configurations and streams of a fleet",
		Long: `Create the keys and server configurations of a fleet in DIR; with --apply, also its
streams.

  ccm fleet init ~/fleet --server nats1.example.net --server nats2.example.net --server nats3.example.net
  scp -r ~/fleet/nats1.example.net root@nats1.example.net:/etc/nats   # the same for the others
  ccm fleet init ~/fleet --apply --environment prod

DIR contains keys, certificates, credentials for you and for new machines, and for each
server a directory with the configuration of a stock nats-server.

Existing files are kept; a second run shows what changed. DIR lets its owner enrol and
revoke machines, but not run anything on them: that requires an operator's signature.`,
		Args: cli.WantArguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Sizes = identity.Sizes{Events: int64(events), Jobs: int64(jobs), Sites: int64(sites)}
			if u, err := user.Current(); err == nil {
				o.User = subject.NodeName(u.Username)
			}
			if signersFile != "" {
				text, err := e.Files.ReadFile(signersFile)
				if err != nil {
					return err
				}
				if _, err := signers.Parse(signersFile, string(text)); err != nil {
					return err
				}
				o.Signers = string(text)
			}
			return initFleet(cmd.Context(), e, out, args[0], o, apply, noop)
		},
	}
	fs := cmd.Flags()
	fs.StringArrayVar(&o.Servers, "server", nil, "nats-server `HOST[:PORT]` (repeatable: three, or one for a trial)")
	fs.StringArrayVar(&o.Environments, "environment", nil, "add environment `NAME` (repeatable)")
	fs.BoolVar(&apply, "apply", false, "also upload the account, and create or update streams")
	fs.BoolVarP(&noop, "noop", "n", false, "show what would change, without changing anything")
	fs.BoolVar(&o.Registry, "allow-registry", false, "let all nodes read the service registry")
	fs.StringArrayVar(&o.Data, "allow-data", nil, "let all nodes read key-value bucket `NAME` (repeatable)")
	fs.BoolVar(&o.Upstream, "upstream", false, "allow agents of Choria CCM to register services (needs rollups)")
	fs.StringVar(&signersFile, "signers", "", "copy `FILE` to DIR/allowed_signers, and trust only its signers")
	fs.StringVar(&o.ConfigDir, "config-dir", "", "configuration `DIR` on the servers (default /etc/nats)")
	fs.StringVar(&o.StoreDir, "store-dir", "", "data `DIR` on the servers (default /var/lib/nats)")
	size := func(name string, s *resources.Size, what string) {
		fs.Func(name, what, func(text string) error { return s.UnmarshalText([]byte(text)) })
	}
	size("events-size", &events, "maximum `SIZE` of events on each server (default 50GiB)")
	size("jobs-size", &jobs, "maximum `SIZE` of the job log (default 2GiB)")
	size("sites-size", &sites, "maximum `SIZE` of an environment's bundles (default 10GiB)")
	out = addChangePrinter(cmd)
	return cmd
}

func initFleet(ctx context.Context, e *cli.Env, out changePrinter, dir string, o identity.Options, apply, noop bool) error {
	plan, err := identity.Plan(dir, o, cli.Machine(e), e.Clock.Now())
	if err != nil {
		return err
	}
	for _, c := range plan.Changes {
		f := fleetChange{Change: changed, Kind: "file", Name: c.Path}
		if c.New {
			f.Change = created
		}
		if c.Reason != "" {
			f.Detail = []string{c.Reason}
		}
		if err := out.print(e, f, pad(c.Path, 34)+" "+c.Reason); err != nil {
			return err
		}
	}
	if !noop {
		if err := plan.Apply(); err != nil {
			return err
		}
	}
	switch {
	case apply && noop && len(plan.Changes) > 0:
		cli.Say(e, "Servers were not compared: the directory is out of date.")
		return nil
	case apply:
		return applyFleet(ctx, e, out, plan.Directory, noop)
	case len(plan.Changes) == 0:
		cli.Say(e, "Nothing to do in %s.", plan.Directory.Path)
	case !noop && slices.ContainsFunc(plan.Changes, func(c identity.Change) bool { return c.Path != identity.SignersFile }):
		cli.Say(e, "Copy each server's directory to it, start nats-server -c nats.conf there, then run: ccm fleet init %s --apply", dir)
	}
	return nil
}

// applyFleet configures the servers as the directory says.
func applyFleet(ctx context.Context, e *cli.Env, out changePrinter, d *identity.Directory, noop bool) error {
	ctx, cancel := e.Stop.Context(ctx)
	defer cancel()
	pushed, err := pushAccount(ctx, e, out, d, noop)
	if err != nil {
		return err
	}
	c, err := cluster.Connect(d)
	if err != nil {
		return err
	}
	defer c.Close()
	sayWaiting := sync.OnceFunc(func() { cli.Say(e, "Waiting for the servers to find each other.") })
	if err := c.WaitForLeader(ctx, sayWaiting); err != nil {
		return err
	}
	changes, err := c.Plan(ctx)
	if err != nil {
		return err
	}
	for _, change := range changes {
		if !noop {
			if err := c.Apply(ctx, change, sayWaiting); err != nil {
				return err
			}
		}
		f, text := fleetChange{Change: created, Kind: "stream", Name: strings.TrimPrefix(change.Stream.Label, "stream ")}, change.Stream.Label
		if !change.New {
			f.Change, f.Detail = changed, change.Diff
			text += ": " + strings.Join(change.Diff, ", ")
		}
		if err := out.print(e, f, text); err != nil {
			return err
		}
	}
	if !noop {
		sayElecting := sync.OnceFunc(func() { cli.Say(e, "Waiting for the streams to elect leaders.") })
		if err := c.WaitForStreams(ctx, sayElecting); err != nil {
			return err
		}
	}
	restored, err := restoreNodes(ctx, e, out, c, noop)
	if err != nil {
		return err
	}
	if len(changes) == 0 && !pushed && restored == 0 {
		cli.Say(e, "Nothing to do: servers are up to date.")
	}
	return nil
}

// pushAccount hands the account to the servers if theirs is another.
func pushAccount(ctx context.Context, e *cli.Env, out changePrinter, d *identity.Directory, noop bool) (bool, error) {
	there, err := cluster.Account(ctx, d)
	if err != nil {
		return false, err
	}
	token, err := d.AccountToken()
	if err != nil || token == there {
		return false, err
	}
	if noop {
		return true, out.print(e, fleetChange{Change: changed, Kind: "account", Name: "account"}, "account of the servers")
	}
	if token, err = d.ChangeAccount(there, func(*identity.AccountChange) {}); err != nil || token == there {
		return false, err
	}
	names, err := cluster.PushAccount(ctx, d, token)
	if err != nil {
		return false, err
	}
	return true, out.print(e, fleetChange{Change: changed, Kind: "account", Name: "account", Servers: names}, "account of the servers "+cli.NamesOf(names))
}

// pad fills a text up with spaces.
func pad(s string, width int) string { return s + strings.Repeat(" ", max(0, width-len(s))) }
