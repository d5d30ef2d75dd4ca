package registration

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/fleet/registry"
	"github.com/luaccm/ccm/runtime/registration"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/terminal"
)

// queryUse is the usage of the arguments that select entries.
const queryUse = " [CLUSTER [PROTOCOL [SERVICE [ADDRESS]]]]"

// queryOf returns the query of the arguments.
func queryOf(args []string) registration.Query {
	args = append(slices.Clone(args), "*", "*", "*", "*")
	return registration.Query{Cluster: args[0], Protocol: args[1], Service: args[2], Address: args[3]}
}

func newQueryCommand(e *cli.Env, f *registrationFlags) *cobra.Command {
	asJSON, asYAML, watching := false, false, false
	cmd := &cobra.Command{
		Use: "query" + queryUse, Aliases: []string{"q"},
		Short: "List registered services",
		Long: `List registered services. Read-only.

  ccm registration query production
  ccm registration query '*' http
  ccm registration query production --watch

* matches any cluster, protocol, service or address, and so do omitted arguments.

--watch lists them, then prints a line for each service that is registered or removed,
until interrupted. The server reports expired services only if the stream was created
with --upstream, so ccm also checks the stream every two seconds.`,
		Args: cli.WantArguments(0, 4),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.with(cmd, e, func(ctx context.Context, r *registry.Registry) error {
				if watching {
					return watch(ctx, e, r, args, asJSON)
				}
				list, err := r.Find(ctx, queryOf(args), func(err error) { e.Messages.Warn(err.Error()) })
				switch {
				case err != nil:
					return err
				case asJSON:
					return e.Print().JSON(list)
				case asYAML:
					return e.Print().Value(schema.ValueOf(list.Plain()), "yaml")
				}
				printServices(e, list)
				return nil
			})
		},
	}
	fs := cmd.Flags()
	fs.BoolVar(&asJSON, "json", false, "print a JSON list; with --watch, one object per line")
	fs.BoolVar(&asYAML, "yaml", false, "print a YAML list")
	fs.BoolVar(&watching, "watch", false, "print changes until interrupted")
	cmd.MarkFlagsMutuallyExclusive("json", "yaml")
	cmd.MarkFlagsMutuallyExclusive("watch", "yaml")
	f.add(fs)
	return cmd
}

// printServices prints entries for people, grouped by service.
func printServices(e *cli.Env, list registration.Entries) {
	if len(list) == 0 {
		terminal.Fprintf(e.Stdout, "No results found\n")
		return
	}
	slices.SortStableFunc(list, func(a, b *registration.Entry) int {
		return slices.Compare([]string{a.Cluster, a.Protocol, a.Service}, []string{b.Cluster, b.Protocol, b.Service})
	})
	head := ""
	for _, x := range list {
		if h := strings.Join([]string{x.Service, x.Cluster}, " @ "); h != head {
			head = h
			terminal.Fprintf(e.Stdout, "Service: %s\n\n", head)
		}
		terminal.Fprintf(e.Stdout, "       Cluster: %s\n      Protocol: %s\n       Service: %s\n       Address: %s\n", x.Cluster, x.Protocol, x.Service, x.Address)
		if x.Port != nil {
			terminal.Fprintf(e.Stdout, "          Port: %d\n", x.Port)
		}
		terminal.Fprintf(e.Stdout, "      Priority: %d\n", x.Priority)
		if len(x.Annotations) > 0 {
			terminal.Fprintf(e.Stdout, "   Annotations:\n")
		}
		for _, name := range slices.Sorted(maps.Keys(x.Annotations)) {
			terminal.Fprintf(e.Stdout, "                %s: %s\n", name, x.Annotations[name])
		}
		terminal.Fprintf(e.Stdout, "\n")
	}
}

// watch prints entries as they are registered and removed, until the command is interrupted.
func watch(ctx context.Context, e *cli.Env, r *registry.Registry, args []string, asJSON bool) error {
	tell := func(ev registry.Event) { printRegistryEvent(e, ev) }
	if asJSON {
		tell = func(ev registry.Event) { _ = e.Print().Line(ev) }
	}
	return r.Watch(ctx, queryOf(args), tell, func(err error) { e.Messages.Warn(err.Error()) })
}

// printRegistryEvent prints one line.
func printRegistryEvent(e *cli.Env, ev registry.Event) {
	x := ev.Entry
	if ev.Action == registry.Remove {
		terminal.Fprintf(e.Stdout, "- %s: removed (%s)\n", x.String(), ev.Reason)
		return
	}
	ttl := ""
	if x.TTL != nil {
		ttl = ", ttl " + x.TTL.String()
	}
	terminal.Fprintf(e.Stdout, "+ %s: priority %d%s\n", x.String(), x.Priority, ttl)
}
