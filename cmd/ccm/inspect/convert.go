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
		Short: "Print the Lua script that declares what a manifest does",
		Long: `Print a Lua script that declares the same resources as a YAML manifest. It
belongs beside the manifest: data stays there, and the script reads it with
data.load. What Lua has no words for is written as its value on this machine,
with a comment.

  ccm convert site.yaml > site.lua`,
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
