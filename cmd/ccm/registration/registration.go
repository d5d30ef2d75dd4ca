// Package registration is ccm registration: services in the registry.
package registration

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/fleet/registry"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/nats"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/site"
)

// registrationFlags say which registry is meant.
type registrationFlags struct{ site.DataOptions }

// Command returns ccm registration.
func Command(e *cli.Env) *cobra.Command {
	f := &registrationFlags{}
	cmd := &cobra.Command{
		Use: "registration", Aliases: []string{"reg"},
		Short: "Manage the service discovery registry in NATS",
		Long: `Manage the service registry: a NATS JetStream stream where resources register services
(register_when_stable), and where templates and scripts find them (registrations).

  ccm registration init                         create the stream, once
  ccm registration query production             list services
  ccm registration query --watch                watch changes
  ccm registration create --cluster production --service web --protocol http \
      --address 192.0.2.7 --port 80             register a service by hand
  ccm registration rm ...                       remove it

The entries and the stream are compatible with Choria CCM.`,
	}
	cmd.PersistentFlags().StringVar(&f.Context, "context", "", "nats CLI context `NAME` (default $"+nats.ContextVariable+", else "+nats.DefaultContext+")")
	cmd.AddCommand(newInitCommand(e, f), newCreateCommand(e, f), newRmCommand(e, f),
		newQueryCommand(e, f), cli.Former(e, newQueryCommand(e, f), "watch", "ccm registration query", "--watch"))
	cli.NeedCommand(cmd)
	return cmd
}

// add adds the flag about the stream.
func (f *registrationFlags) add(fs *pflag.FlagSet) { cli.AddStreamFlag(fs, &f.DataOptions) }

// with calls do with the registry, until ccm shall end.
func (f *registrationFlags) with(cmd *cobra.Command, e *cli.Env, do func(ctx context.Context, r *registry.Registry) error) error {
	ctx, cancel := e.Stop.Context(cmd.Context())
	defer cancel()
	r := f.DataOptions.Services(e.Remote(), true)
	defer r.Client.Close()
	return do(ctx, r)
}

func newInitCommand(e *cli.Env, f *registrationFlags) *cobra.Command {
	o := registry.StreamOptions{}
	upstream := false
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Create or update the stream of the registry",
		Long: `Create or update the stream of the registry.

  ccm registration init --replicas 3

It reports what it changes. The number of replicas and the expiry change only if
given.

Agents of Choria CCM send a header that the server refuses unless the stream was
created with --upstream. With it, anybody who may publish one service can remove all.`,
		Args: cli.WantArguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("upstream") {
				o.Upstream = &upstream
			}
			o.KeepReplicas, o.KeepMaxAge = !cmd.Flags().Changed("replicas"), !cmd.Flags().Changed("max-age")
			return f.with(cmd, e, func(ctx context.Context, r *registry.Registry) error {
				changes, err := r.Init(ctx, o)
				if err != nil {
					return err
				}
				for _, c := range changes {
					terminal.Fprintf(e.Stdout, "+ stream %s: %s\n", r.Stream, c)
				}
				if len(changes) == 0 {
					terminal.Fprintf(e.Stdout, "Nothing to do: stream %s is up to date\n", r.Stream)
				}
				return nil
			})
		},
	}
	fs := cmd.Flags()
	fs.IntVar(&o.Replicas, "replicas", 1, "number of replicas")
	cli.DurationVar(fs, &o.MaxAge, "max-age", 15*time.Minute, "expiry of services, such as three times the run interval")
	fs.BoolVar(&upstream, "upstream", false, "allow agents of Choria CCM to register services")
	f.add(fs)
	return cmd
}

// needName returns the error about a missing flag that names a thing.
func needName(flag string) error {
	return diag.At(diag.Pos{}, diag.Expected("--%s", flag))
}
