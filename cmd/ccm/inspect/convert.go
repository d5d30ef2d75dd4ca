package inspect

import (
	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
)

// ConvertCommand returns the command convert.
func ConvertCommand(e *cli.Env) *cobra.Command {
	f := &cli.SiteFlags{}
	cmd := &cobra.Command{
		Use:   "convert MANIFEST",
		Short: "Convert a YAML manifest to a Lua script",
		Long: `Convert a YAML manifest to a Lua script that declares the same resources. Read-only.

  ccm convert site.yaml > site.lua

Save the script beside the manifest, because it reads the data there with data.load.
Expressions without an equivalent in Lua become their value on this machine, with a
comment.`,
		Args: cli.NeedFile, ValidArgsFunction: cli.CompleteFile(),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			leave, err := f.Enter(cmd.Context(), e, args[0])
			if err != nil {
				return err
			}
			defer leave(&err)
			m, err := cli.LoadManifest(cmd.Context(), e, args[0], f)
			if err != nil {
				return err
			}
			return m.Convert(e.Print().Data())
		},
	}
	f.Add(cmd.Flags())
	cli.AddBundleFlags(cmd.Flags(), &f.Bundle)
	cli.AddUnsavedFlag(cmd)
	return cmd
}
