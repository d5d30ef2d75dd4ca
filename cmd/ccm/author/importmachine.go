package author

import (
	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/site/machine"
)

// machineFlags are the flags of import machine.
type machineFlags struct {
	cli.SiteFlags
	only, ignore []string
	since        string
	output       *cli.Choice
}

// newMachineCommand returns the command import machine.
func newMachineCommand(e *cli.Env) *cobra.Command {
	f := &machineFlags{output: cli.NewChoice("json", "json", "yaml")}
	cmd := &cobra.Command{
		Use:   "machine",
		Short: "Find what was changed on the machine since its installation",
		Long: `Find what was changed on the machine since its installation. Read-only.

  ccm import machine --output json

It finds packages installed by request, changed configuration files, files in /etc,
/usr/local and /opt that no package owns, services, users, groups, and settings.
Contents of files are not printed. Without root, unreadable files are listed.`,
		Args: cli.WantArguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			scan, err := f.scan(e, cmd)
			if err != nil {
				return err
			}
			if f.output.Value == "yaml" {
				return e.Print().YAML(scan)
			}
			return e.Print().JSON(scan)
		},
	}
	fs := cmd.Flags()
	fs.StringSliceVar(&f.only, "only", nil, "find only `GROUPS`: packages, files, services, users, system")
	fs.StringArrayVar(&f.ignore, "ignore", nil, "leave out names and paths that match `PATTERN` (repeatable)")
	fs.StringVar(&f.since, "since", "", "leave out what is older than `DURATION`, such as 30d")
	fs.StringVar(&f.Root, "root", "/", "use `DIR` as the root directory")
	fs.Var(f.output, "output", "output format: json or yaml")
	return cmd
}

// scan scans the machine.
func (f *machineFlags) scan(e *cli.Env, cmd *cobra.Command) (*machine.Scan, error) {
	o := machine.Options{Only: f.only, Ignore: f.ignore}
	if f.since != "" {
		age, err := host.ParseDuration(f.since)
		if err != nil {
			return nil, diag.About("--since", err)
		}
		o.Since = e.Clock.Now().Add(-age)
	}
	return machine.Read(cmd.Context(), e.View(f.Root), o)
}
