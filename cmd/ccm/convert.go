package main

import (
	"github.com/spf13/cobra"
)

func newConvertCommand(e *env) *cobra.Command {
	f := &siteFlags{}
	cmd := &cobra.Command{
		Use:   "convert MANIFEST",
		Short: "Print the Lua script that declares what a manifest does",
		Long: `Print a Lua script that declares the same resources as a YAML manifest. It
belongs beside the manifest: data stays there, and the script reads it with
data.load. What Lua has no words for is written as its value on this machine,
with a comment.

  ccm convert site.yaml > site.lua`,
		Args: needFile, ValidArgsFunction: completeFile(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.within(cmd.Context(), e, args[0], func() error {
				m, err := loadManifest(cmd.Context(), e, args[0], f)
				if err != nil {
					return err
				}
				return m.Convert(e.print().data())
			})
		},
	}
	f.add(cmd.Flags())
	addBundle(cmd.Flags(), &f.Bundle)
	addUnsaved(cmd)
	return cmd
}
