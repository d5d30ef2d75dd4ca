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
		Short: "Find and keep services in the registry",
		Long: `Find and keep services in the registry: a stream of NATS JetStream in which
resources say where a service is offered (register_when_stable), and in which
templates and scripts find them (registrations).

  ccm registration init                         make the stream, once
  ccm registration query production             what is registered
  ccm registration watch                        tell of changes as they happen
  ccm registration create --cluster production --service web --protocol http \
      --address 192.0.2.7 --port 80             register a service by hand
  ccm registration rm ...                       take it out again

Choria CCM keeps the same entries in the same stream.`,
	}
	cmd.PersistentFlags().StringVar(&f.Context, "context", "", "ask the servers of this context `NAME` of the nats tool (default "+nats.ContextVariable+", else "+nats.DefaultContext+")")
	cmd.AddCommand(newInitCommand(e, f), newCreateCommand(e, f), newRmCommand(e, f),
		newQueryCommand(e, f), newWatchCommand(e, f))
	cli.NeedCommand(cmd)
	return cmd
}

// add adds the flag about the stream.
func (f *registrationFlags) add(fs *pflag.FlagSet) { cli.AddStreamFlag(fs, &f.DataOptions) }

// with calls do with the registry, until ccm shall end.
func (f *registrationFlags) with(cmd *cobra.Command, e *cli.Env, do func(ctx context.Context, r *registry.Registry) error) error {
	ctx, cancel := e.UntilStopped(cmd.Context())
	defer cancel()
	r := e.Registry(&f.DataOptions, true)
	defer r.Client.Close()
	return do(ctx, r)
}

func newInitCommand(e *cli.Env, f *registrationFlags) *cobra.Command {
	o := registry.StreamOptions{}
	upstream := false
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Make the stream of the registry, or correct it",
		Long: `Make the stream of the registry, or correct one that is there. What is right
already is left alone, and what is changed is said. How many servers keep it,
and how long services stay, is changed only if that is said here.

Agents of Choria CCM send a header that the server refuses unless the stream was
made with --upstream. Whoever may publish one service there can remove all of them.`,
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
					terminal.Fprintf(e.Stdout, "Nothing to do: the stream %s is as wanted\n", r.Stream)
				}
				return nil
			})
		},
	}
	fs := cmd.Flags()
	fs.IntVar(&o.Replicas, "replicas", 1, "on how many servers it is kept")
	fs.DurationVar(&o.MaxAge, "max-age", 15*time.Minute, "how long a service stays that is not registered again; three times the interval of the runs is a good measure")
	fs.BoolVar(&upstream, "upstream", false, "agents of Choria CCM register services there too")
	f.add(fs)
	return cmd
}

// needName returns the error about a missing flag that names a thing.
func needName(flag string) error {
	return diag.At(diag.Pos{}, diag.Expected("--%s", flag))
}
