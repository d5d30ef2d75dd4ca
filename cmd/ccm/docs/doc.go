package docs

import (
	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/site"
)

// DocCommand returns the command doc.
func DocCommand(e *cli.Env) *cobra.Command {
	output := cli.NewChoice("text", "text", "json")
	man := ""
	var modules []string
	cmd := &cobra.Command{
		Use:   "doc [TYPE[.PROPERTY] | LIBRARY[.FUNCTION]]",
		Short: "Print the reference of resource types and library functions",
		Long: `Print the reference of resource types and library functions. Read-only.

  ccm doc file
  ccm doc file.mode
  ccm doc str.split
  ccm doc --module nginx nginx.vhost

Without arguments, it prints all types. The reference is generated from the
declarations that decode scripts and manifests. With --module, it includes the
types and functions of a module of the site, with the comments above them.
With --output json, it is a JSON Schema (draft 2020-12).

With --man DIR, it writes a manual page for every command to a directory; read
them with "man -l DIR/ccm-run.1".`,
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
			var functions []site.ModuleFunction
			for _, name := range modules {
				more, err := e.RequireModule(cmd.Context(), reg, name)
				if err != nil {
					return err
				}
				functions = append(functions, more...)
			}
			if len(args) == 0 {
				site.AddShipped(reg)
				return docAll(e, reg, functions, output.Value == "json")
			}
			if reg.Type(args[0]) == nil {
				if ref, ok, err := site.FindFunctions(functions, args[0]); ok {
					return docReference(e, ref, err, output.Value == "json")
				}
			}
			return docOne(e, reg, args[0], output.Value == "json")
		},
	}
	cmd.Flags().Var(output, "output", "output format: text or json")
	cmd.Flags().StringArrayVar(&modules, "module", nil, "include types and functions of Lua module `NAME` (repeatable)")
	cmd.Flags().StringVar(&man, "man", "", "write manual pages to `DIR`")
	_ = cmd.MarkFlagDirname("man")
	return cmd
}

func docAll(e *cli.Env, reg *resource.Registry, functions []site.ModuleFunction, asJSON bool) error {
	if asJSON {
		all := map[string]any{}
		for _, t := range reg.Types() {
			all[t.Name] = t.Properties().JSONSchema()
		}
		return e.Print().JSON(map[string]any{"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": all})
	}
	site.WriteTypes(e.Stdout, reg)
	if len(functions) > 0 {
		terminal.Fprintf(e.Stdout, "\n## Functions of modules\n\n")
		site.WriteFunctions(e.Stdout, functions)
	}
	return nil
}

// docOne prints the reference of a topic.
func docOne(e *cli.Env, reg *resource.Registry, topic string, asJSON bool) error {
	ref, err := site.FindReference(reg, topic)
	return docReference(e, ref, err, asJSON)
}

// docReference prints a reference, or returns err if that is not nil.
func docReference(e *cli.Env, ref site.Reference, err error, asJSON bool) error {
	switch {
	case err != nil:
		return err
	case asJSON:
		return e.Print().JSON(ref.JSON)
	}
	ref.WriteText(e.Stdout)
	return nil
}
