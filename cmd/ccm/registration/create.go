package registration

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/fleet/registry"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/registration"
	"github.com/luaccm/ccm/runtime/terminal"
)

// entryFlags describe one entry of the registry.
type entryFlags struct {
	entry       registration.Entry
	port        int64
	ttl         string
	annotations []string
}

// add adds the flags that tell entries apart.
func (f *entryFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.entry.Cluster, "cluster", "", "cluster `NAME`")
	fs.StringVar(&f.entry.Service, "service", "", "service `NAME`")
	fs.StringVar(&f.entry.Protocol, "protocol", "", "protocol `NAME`")
	fs.StringVar(&f.entry.Address, "address", "", "IP `ADDRESS` or host name")
	fs.Int64Var(&f.port, "port", 0, "port number (optional)")
	f.entry.Priority = defaultPriority
}

// defaultPriority is the priority of an entry without a flag for it.
const defaultPriority = 100

// check completes the entry and returns its mistakes.
func (f *entryFlags) check(fs *pflag.FlagSet) error {
	for _, flag := range []string{"cluster", "service", "protocol", "address"} {
		if !fs.Changed(flag) {
			return needName(flag)
		}
	}
	if fs.Changed("port") {
		f.entry.Port = f.port
	}
	if f.ttl != "" {
		f.entry.TTL = new(registration.TTL)
		if err := f.entry.TTL.UnmarshalText([]byte(f.ttl)); err != nil {
			return fmt.Errorf("--ttl: %w", err)
		}
	}
	for _, a := range f.annotations {
		name, val, ok := strings.Cut(a, "=")
		if !ok || name == "" {
			return fmt.Errorf("--annotation: %w", diag.Expected("NAME=TEXT").Got("%q", a))
		}
		if f.entry.Annotations == nil {
			f.entry.Annotations = make(map[string]string)
		}
		f.entry.Annotations[name] = val
	}
	err := f.entry.Check()
	if field, ok := errors.AsType[*registration.FieldError](err); ok {
		return fmt.Errorf("--%s: %w", field.Field, field.Err)
	}
	return err
}

func newCreateCommand(e *cli.Env, f *registrationFlags) *cobra.Command {
	x := &entryFlags{}
	cmd := &cobra.Command{
		Use: "create", Aliases: []string{"c"},
		Short: "Register a service",
		Args:  cli.WantArguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := x.check(cmd.Flags()); err != nil {
				return err
			}
			return f.with(cmd, e, func(ctx context.Context, r *registry.Registry) error {
				if err := r.Publish(ctx, &x.entry, registry.Stored); err != nil {
					return err
				}
				terminal.Fprintf(e.Stdout, "Registered %s, priority %d, ttl %s\n", x.entry.String(), x.entry.Priority, x.entry.TTL)
				return nil
			})
		},
	}
	fs := cmd.Flags()
	x.add(fs)
	fs.Int64Var(&x.entry.Priority, "priority", defaultPriority, "priority from 1 (preferred) to 255")
	fs.StringVar(&x.ttl, "ttl", "30s", "expiry `TIME` such as 10m, or never")
	fs.StringArrayVarP(&x.annotations, "annotation", "A", nil, "annotation `NAME=TEXT` (repeatable)")
	f.add(fs)
	return cmd
}

func newRmCommand(e *cli.Env, f *registrationFlags) *cobra.Command {
	x := &entryFlags{}
	force := false
	cmd := &cobra.Command{
		Use: "rm", Aliases: []string{"delete"},
		Short: "Remove a service from the registry",
		Args:  cli.WantArguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := x.check(cmd.Flags()); err != nil {
				return err
			}
			if !force {
				tty, err := e.OpenTerminal("ccm registration rm", "remove without asking with --force")
				if err != nil {
					return err
				}
				terminal.Fprintf(tty, "Remove %s from the registry.\n", x.entry.String())
				if err := e.Confirm(cmd.Context(), tty); err != nil {
					return err
				}
			}
			return f.with(cmd, e, func(ctx context.Context, r *registry.Registry) error {
				was, err := r.Remove(ctx, &x.entry)
				switch {
				case err != nil:
					return err
				case was:
					terminal.Fprintf(e.Stdout, "Removed %s\n", x.entry.String())
				default:
					terminal.Fprintf(e.Stdout, "Nothing to do: %s is not registered\n", x.entry.String())
				}
				return nil
			})
		},
	}
	fs := cmd.Flags()
	x.add(fs)
	fs.BoolVar(&force, "force", false, "do not ask")
	f.add(fs)
	return cmd
}
