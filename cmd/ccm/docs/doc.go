package docs

import (
	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/site"
)

// DocCommand returns the command doc.
func DocCommand(e *cli.Env) *cobra.Command {
	output := cli.NewChoice("text", "text", "json")
	man := ""
	var modules []string
	cmd := &cobra.Command{
		Use:   "doc [TYPE[.PROPERTY] | LIBRARY[.FUNCTION]]",
		Short: "Print the reference of the resource types and of the library of scripts",
		Long: `Print the reference of one type, of one property, or of all types. It is
written from the same declarations that decode scripts and manifests. The
libraries that scripts have, and their functions, are documented too: ccm doc
str, ccm doc str.split. Types that modules of a site define are documented with
--module: ccm doc --module nginx vhost.
With --output json it is a JSON Schema (draft 2020-12).

With --man DIR it writes a manual page for every command to a directory, as
"man -l DIR/ccm-run.1" reads them.`,
		Args: cli.WantArguments(0, 1),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return append(cli.TypeCompletions(func(*resource.Type) bool { return true }), site.LibraryNames()...), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if man != "" {
				return writeMan(e, cmd.Root(), man)
			}
			reg, err := site.Documented()
			if err != nil {
				return err
			}
			for _, name := range modules {
				if err := e.RequireModule(cmd.Context(), reg, name); err != nil {
					return err
				}
			}
			if len(args) == 0 {
				site.AddShipped(reg)
				return docAll(e, reg, output.Value == "json")
			}
			return docOne(e, reg, args[0], output.Value == "json")
		},
	}
	cmd.Flags().Var(output, "output", "form of the output: text or json")
	cmd.Flags().StringArrayVar(&modules, "module", nil, "also the types that the Lua module `NAME` defines (repeatable)")
	cmd.Flags().StringVar(&man, "man", "", "write manual pages to `DIR`")
	_ = cmd.MarkFlagDirname("man")
	return cmd
}

func docAll(e *cli.Env, reg *resource.Registry, asJSON bool) error {
	if asJSON {
		all := map[string]any{}
		for _, t := range reg.Types() {
			all[t.Name] = t.Properties().JSONSchema()
		}
		return e.Print().JSON(map[string]any{"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": all})
	}
	site.WriteTypes(e.Stdout, reg)
	return nil
}

// docOne prints the reference of a topic.
func docOne(e *cli.Env, reg *resource.Registry, topic string, asJSON bool) error {
	ref, err := site.FindReference(reg, topic)
	switch {
	case err != nil:
		return err
	case asJSON:
		return e.Print().JSON(ref.JSON)
	}
	ref.WriteText(e.Stdout)
	return nil
}
